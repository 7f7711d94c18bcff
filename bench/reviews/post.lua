-- Posts the files named on the command line in turn; prints one line of JSON at the end.

local bodies, requests, at = {}, {}, 0

function init(args)
  for _, path in ipairs(args) do
    local file = assert(io.open(path, "rb"))
    bodies[#bodies + 1] = file:read("*a")
    file:close()
  end
  for place, body in ipairs(bodies) do
    requests[place] = wrk.format("POST", "/mutate?timeout=10s", {["Content-Type"] = "application/json"}, body)
  end
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary, latency, _)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"seconds":%.6f,"refused":%d,"broken":%d,"late":%d}\n',
    summary.requests, summary.duration / 1e6, errors.status,
    errors.connect + errors.read + errors.write, errors.timeout
  ))
end
