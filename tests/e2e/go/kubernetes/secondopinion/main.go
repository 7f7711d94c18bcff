// The program secondopinion answers questions about texts by the packages that the API server and Go use.
//
// A question is a line with a JSON list of texts: what is asked, and about which texts. The answer is a line with a
// JSON list: false if the text is refused, else true and what was read.
package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"net/netip"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/kubernetes/pkg/apis/core"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
)

var refused = []any{false}

var answers = map[string]func([]string) []any{
	"quantity":   quantity,
	"selector":   selector,
	"address":    address,
	"duration":   duration,
	"time":       timestamp,
	"expression": expression,
	"resource":   containerResource,
	"condition":  condition,
	"subdomain":  func(texts []string) []any { return legal(validation.IsDNS1123Subdomain(texts[0])) },
	"label":      func(texts []string) []any { return legal(validation.IsDNS1123Label(texts[0])) },
	"key":        func(texts []string) []any { return legal(validation.IsQualifiedName(texts[0])) },
	"value":      func(texts []string) []any { return legal(validation.IsValidLabelValue(texts[0])) },
}

func legal(mistakes []string) []any {
	return []any{len(mistakes) == 0}
}

// The amount as a decimal number.
func quantity(texts []string) []any {
	amount, err := resource.ParseQuantity(texts[0])
	if err != nil {
		return refused
	}
	return []any{true, amount.AsDec().String()}
}

// The requirements, each as key, operator and sorted values.
func selector(texts []string) []any {
	parsed, err := labels.Parse(texts[0])
	if err != nil {
		return refused
	}
	requirements, _ := parsed.Requirements()
	answer := []any{true}
	for _, one := range requirements {
		values := one.Values().UnsortedList()
		sort.Strings(values)
		answer = append(answer, []any{one.Key(), string(one.Operator()), values})
	}
	return answer
}

// The sixteen bytes of the address in hexadecimal, and its zone.
func address(texts []string) []any {
	parsed, err := netip.ParseAddr(texts[0])
	if err != nil {
		return refused
	}
	bytes := parsed.As16()
	return []any{true, hex.EncodeToString(bytes[:]), parsed.Zone(), parsed.Is4()}
}

// Nanoseconds.
func duration(texts []string) []any {
	parsed, err := time.ParseDuration(texts[0])
	if err != nil {
		return refused
	}
	return []any{true, strconv.FormatInt(parsed.Nanoseconds(), 10)}
}

// Whole seconds since 1970, as an object of the API server states a time.
func timestamp(texts []string) []any {
	quoted, _ := json.Marshal(texts[0])
	var parsed metav1.Time
	if err := json.Unmarshal(quoted, &parsed); err != nil {
		return refused
	}
	return []any{true, strconv.FormatInt(parsed.Unix(), 10)}
}

// Whether a node selector may have the requirement: its key, its operator, and its values.
func expression(texts []string) []any {
	requirement := core.NodeSelectorRequirement{
		Key: texts[0], Operator: core.NodeSelectorOperator(texts[1]), Values: texts[2:],
	}
	mistakes := corevalidation.ValidateNodeSelectorRequirement(requirement, false, field.NewPath("it"))
	return []any{len(mistakes) == 0}
}

// Whether a container may request that amount of the resource.
func containerResource(texts []string) []any {
	amount, err := resource.ParseQuantity(texts[1])
	if err != nil {
		return refused
	}
	amounts := core.ResourceList{
		core.ResourceCPU: resource.MustParse("1"), core.ResourceName(texts[0]): amount,
	}
	requirements := core.ResourceRequirements{Limits: amounts, Requests: amounts}
	mistakes := corevalidation.ValidateContainerResourceRequirements(
		&requirements, nil, field.NewPath("it"), corevalidation.PodValidationOptions{})
	return []any{len(mistakes) == 0}
}

var conditions = map[string]matchconditions.Matcher{}

// Whether the condition of an entry of a webhook holds when each of the objects is created, or the error.
func condition(texts []string) []any {
	matcher, known := conditions[texts[0]]
	if !known {
		fail := admissionregistration.Fail
		entry := &admissionregistration.ValidatingWebhook{
			Name: "entry", FailurePolicy: &fail,
			MatchConditions: []admissionregistration.MatchCondition{{Name: "condition", Expression: texts[0]}},
		}
		version := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
		matcher = webhook.NewValidatingWebhookAccessor("", "", entry).GetCompiledMatcher(cel.NewConditionCompiler(version))
		conditions[texts[0]] = matcher
	}
	answer := []any{true}
	for _, text := range texts[1:] {
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON([]byte(text)); err != nil {
			return refused
		}
		kind := object.GroupVersionKind()
		attributes := admission.NewAttributesRecord(
			object, nil, kind, "default", object.GetName(), schema.GroupVersionResource{Group: kind.Group, Version: kind.Version},
			"", admission.Create, &metav1.CreateOptions{}, false, &user.DefaultInfo{Name: "user"})
		result := matcher.Match(context.Background(), &admission.VersionedAttributes{
			Attributes: attributes, VersionedKind: kind, VersionedObject: object}, nil, nil)
		if result.Error != nil {
			answer = append(answer, result.Error.Error())
		} else {
			answer = append(answer, result.Matches)
		}
	}
	return answer
}

func answered(line []byte) (answer []any) {
	defer func() {
		// The API server answers a request at which its code panics by an error.
		if failure := recover(); failure != nil {
			answer = refused
		}
	}()
	var texts []string
	if err := json.Unmarshal(line, &texts); err != nil || len(texts) < 2 {
		return []any{nil, "not a question"}
	}
	ask, known := answers[texts[0]]
	if !known {
		return []any{nil, "not a question: " + strings.ToValidUTF8(texts[0], "?")}
	}
	return ask(texts[1:])
}

func main() {
	questions := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := questions.ReadBytes('\n')
		if err != nil {
			return
		}
		answer, err := json.Marshal(answered(line))
		if err != nil {
			os.Exit(1)
		}
		os.Stdout.Write(append(answer, '\n'))
	}
}
