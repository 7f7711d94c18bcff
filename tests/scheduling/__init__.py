"""kube-scheduler's rules over plain objects, clusters and pods made by dice, and what must hold between both and us."""
