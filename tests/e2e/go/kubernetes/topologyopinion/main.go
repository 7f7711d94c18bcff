// The program topologyopinion answers whether a kubelet admits a pod to an empty machine, by the kubelet's own topology
// manager, CPU manager, memory manager and device manager.
//
// A question is a line with a JSON object (question). The answer is a line with a JSON list: whether the pod is
// admitted, and the kubelet's words if it is not.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	_ "unsafe" // for go:linkname

	cadvisorapi "github.com/google/cadvisor/info/v1"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
	pluginapi "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager"
	cpustate "k8s.io/kubernetes/pkg/kubelet/cm/cpumanager/state"
	"k8s.io/kubernetes/pkg/kubelet/cm/cpumanager/topology"
	"k8s.io/kubernetes/pkg/kubelet/cm/devicemanager"
	"k8s.io/kubernetes/pkg/kubelet/cm/memorymanager"
	memorystate "k8s.io/kubernetes/pkg/kubelet/cm/memorymanager/state"
	"k8s.io/kubernetes/pkg/kubelet/cm/topologymanager"
	"k8s.io/kubernetes/pkg/kubelet/lifecycle"
	"k8s.io/utils/cpuset"
)

//go:linkname newManagerImpl k8s.io/kubernetes/pkg/kubelet/cm/devicemanager.newManagerImpl
func newManagerImpl(klog.Logger, string, []cadvisorapi.Node, topologymanager.Store) (*devicemanager.ManagerImpl, error)

// A NUMA zone: cores and how many of them are reserved, bytes likewise, and devices by resource.
type zone struct {
	Cores          int
	ReservedCores  int
	Memory         uint64
	ReservedMemory uint64
	Devices        map[string]int
}

// A container: what it requests, which are its limits as well where Guaranteed, and whether it is an init container or
// a sidecar.
type container struct {
	Requests map[v1.ResourceName]string
	Init     bool
	Sidecar  bool
}

type question struct {
	Policy        string
	Scope         string
	Zones         []zone
	Sockets       int
	AlignBySocket bool
	StaticCores   bool
	StaticMemory  bool
	// Burstable leaves out the limits of memory.
	Burstable  bool
	Containers []container
}

func main() {
	klog.SetLogger(klog.NewKlogr().V(100))
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	folder, err := os.MkdirTemp("", "topologyopinion")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	if err := utilfeature.DefaultMutableFeatureGate.Set("CPUManagerPolicyAlphaOptions=true,CPUManagerPolicyBetaOptions=true"); err != nil {
		panic(err)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	answers := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var asked question
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		admitted, why := answer(asked, folder)
		if err := answers.Encode([]any{admitted, why}); err != nil {
			panic(err)
		}
	}
}

func answer(asked question, folder string) (bool, string) {
	logger := klog.Background()
	machine := machineOf(asked)
	manager, err := topologymanager.NewManager(machine.Topology, asked.Policy, asked.Scope, nil)
	check(err)
	if asked.StaticCores {
		manager.AddHintProvider(logger, coresOf(asked, machine, manager, logger))
	}
	if asked.StaticMemory {
		manager.AddHintProvider(logger, memoryOf(asked, machine, manager, logger))
	}
	devices, err := newManagerImpl(logger, filepath.Join(folder, "kubelet.sock"), machine.Topology, manager)
	check(err)
	given := plugins{devices, manager, devicesOf(asked), logger}
	for name := range given.all {
		given.tell(name)
	}
	manager.AddHintProvider(logger, given)
	result := manager.Admit(&lifecycle.PodAdmitAttributes{Pod: podOf(asked)})
	return result.Admit, result.Reason + ": " + result.Message
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func machineOf(asked question) *cadvisorapi.MachineInfo {
	machine := &cadvisorapi.MachineInfo{NumSockets: asked.Sockets}
	for at, zone := range asked.Zones {
		node := cadvisorapi.Node{Id: at, Memory: zone.Memory}
		for range zone.Cores {
			core := cadvisorapi.Core{Id: machine.NumCores, Threads: []int{machine.NumCores}}
			core.SocketID = at * asked.Sockets / len(asked.Zones)
			node.Cores = append(node.Cores, core)
			machine.NumCores++
		}
		machine.Topology = append(machine.Topology, node)
		machine.MemoryCapacity += zone.Memory
	}
	machine.NumPhysicalCores = machine.NumCores
	return machine
}

func devicesOf(asked question) map[string][]*pluginapi.Device {
	devices := map[string][]*pluginapi.Device{}
	for at, zone := range asked.Zones {
		for name, count := range zone.Devices {
			for number := range count {
				devices[name] = append(devices[name], &pluginapi.Device{
					ID:       fmt.Sprintf("%d-%d", at, number),
					Health:   pluginapi.Healthy,
					Topology: &pluginapi.TopologyInfo{Nodes: []*pluginapi.NUMANode{{ID: int64(at)}}},
				})
			}
		}
	}
	return devices
}

func podOf(asked question) *v1.Pod {
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod", Namespace: "default", UID: "uid"}}
	for at, stated := range asked.Containers {
		requests, limits := v1.ResourceList{}, v1.ResourceList{}
		for name, amount := range stated.Requests {
			requests[name] = resource.MustParse(amount)
			if !(asked.Burstable && name == v1.ResourceMemory) {
				limits[name] = requests[name]
			}
		}
		made := v1.Container{Name: fmt.Sprintf("c%d", at), Resources: v1.ResourceRequirements{Requests: requests, Limits: limits}}
		if stated.Sidecar {
			always := v1.ContainerRestartPolicyAlways
			made.RestartPolicy = &always
		}
		if stated.Init || stated.Sidecar {
			pod.Spec.InitContainers = append(pod.Spec.InitContainers, made)
		} else {
			pod.Spec.Containers = append(pod.Spec.Containers, made)
		}
	}
	return pod
}

// The CPU manager's static policy with a state in memory.
type cores struct {
	policy cpumanager.Policy
	state  cpustate.State
	logger klog.Logger
}

func coresOf(asked question, machine *cadvisorapi.MachineInfo, store topologymanager.Store, logger klog.Logger) cores {
	found, err := topology.Discover(logger, machine)
	check(err)
	reserved, first := []int{}, 0
	for _, zone := range asked.Zones {
		for number := range zone.ReservedCores {
			reserved = append(reserved, first+number)
		}
		first += zone.Cores
	}
	options := map[string]string{}
	if asked.AlignBySocket {
		options["align-by-socket"] = "true"
	}
	policy, err := cpumanager.NewStaticPolicy(logger, found, len(reserved), cpuset.New(reserved...), store, options)
	check(err)
	state := cpustate.NewMemoryState(logger)
	check(policy.Start(logger, state))
	return cores{policy, state, logger}
}

func (c cores) GetTopologyHints(pod *v1.Pod, container *v1.Container) map[string][]topologymanager.TopologyHint {
	return c.policy.GetTopologyHints(c.logger, c.state, pod, container)
}

func (c cores) GetPodTopologyHints(pod *v1.Pod) map[string][]topologymanager.TopologyHint {
	return c.policy.GetPodTopologyHints(c.logger, c.state, pod)
}

func (c cores) Allocate(pod *v1.Pod, container *v1.Container) error {
	return c.policy.Allocate(c.logger, c.state, pod, container)
}

func (c cores) AllocatePod(pod *v1.Pod) error {
	return c.policy.AllocatePod(c.logger, c.state, pod)
}

// The memory manager's static policy with a state in memory.
type memory struct {
	policy memorymanager.Policy
	state  memorystate.State
	logger klog.Logger
}

func memoryOf(asked question, machine *cadvisorapi.MachineInfo, store topologymanager.Store, logger klog.Logger) memory {
	reserved := map[int]map[v1.ResourceName]uint64{}
	for at, zone := range asked.Zones {
		reserved[at] = map[v1.ResourceName]uint64{v1.ResourceMemory: zone.ReservedMemory}
	}
	policy, err := memorymanager.NewPolicyStatic(logger, machine, reserved, store)
	check(err)
	state := memorystate.NewMemoryState(logger)
	check(policy.Start(logger, state))
	return memory{policy, state, logger}
}

func (m memory) GetTopologyHints(pod *v1.Pod, container *v1.Container) map[string][]topologymanager.TopologyHint {
	return m.policy.GetTopologyHints(m.logger, m.state, pod, container)
}

func (m memory) GetPodTopologyHints(pod *v1.Pod) map[string][]topologymanager.TopologyHint {
	return m.policy.GetPodTopologyHints(m.logger, m.state, pod)
}

func (m memory) Allocate(pod *v1.Pod, container *v1.Container) error {
	return m.policy.Allocate(m.logger, m.state, pod, container)
}

func (m memory) AllocatePod(pod *v1.Pod) error {
	return m.policy.AllocatePod(m.logger, m.state, pod)
}

// The device manager, but for its requests to device plugins: a device that is given to a container is told of as
// unhealthy from then on, which makes it unavailable. Init containers give theirs back.
type plugins struct {
	devices *devicemanager.ManagerImpl
	store   topologymanager.Store
	all     map[string][]*pluginapi.Device
	logger  klog.Logger
}

func (p plugins) tell(name string) {
	p.devices.PluginListAndWatchReceiver(p.logger, name, &pluginapi.ListAndWatchResponse{Devices: p.all[name]})
}

func (p plugins) GetTopologyHints(pod *v1.Pod, container *v1.Container) map[string][]topologymanager.TopologyHint {
	return p.devices.GetTopologyHints(pod, container)
}

func (p plugins) GetPodTopologyHints(pod *v1.Pod) map[string][]topologymanager.TopologyHint {
	return p.devices.GetPodTopologyHints(pod)
}

func (p plugins) Allocate(pod *v1.Pod, container *v1.Container) error {
	for _, before := range pod.Spec.InitContainers {
		if before.Name == container.Name && before.RestartPolicy == nil {
			return nil
		}
	}
	mask := p.store.GetAffinity(string(pod.UID), container.Name).NUMANodeAffinity
	for name := range p.all {
		wanted := container.Resources.Requests[v1.ResourceName(name)]
		left := wanted.Value()
		for _, inside := range []bool{true, false} {
			for _, device := range p.all[name] {
				there := mask == nil || mask.IsSet(int(device.Topology.Nodes[0].ID))
				if left > 0 && there == inside && device.Health == pluginapi.Healthy {
					device.Health = pluginapi.Unhealthy
					left--
				}
			}
		}
		p.tell(name)
	}
	return nil
}

func (p plugins) AllocatePod(*v1.Pod) error { return nil }
