-- SPDX-License-Identifier: MIT
-- A script of wrk. It requests the paths of a file in a loop and replaces NONCE with text that never repeats.
local paths, count = {}, 0
local token = os.getenv("LOAD_TOKEN") or "x"
local statuses = {}
for line in io.lines(os.getenv("LOAD_PATHS")) do paths[#paths + 1] = line end

request = function()
  count = count + 1
  local path = paths[(count - 1) % #paths + 1]
  return wrk.format("GET", (path:gsub("NONCE", token .. "-" .. count)))
end

done = function(summary, latency, requests)
  local errors = summary.errors
  io.write(string.format(
    "RESULT %d %d %d %d %d %d %d\n", summary.requests, summary.duration, latency:percentile(50),
    latency:percentile(99), errors.status, errors.connect + errors.read + errors.write, errors.timeout))
end
