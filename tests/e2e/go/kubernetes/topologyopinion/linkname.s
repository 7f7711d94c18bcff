// A file of assembler lets main.go declare a function without a body, which is linked to one of the kubelet.
