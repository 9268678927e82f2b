-- One page, again and again, by wrk: COOKIE is sent, THINK_MS is waited, USERS says how many there are.
local think_ms = tonumber(os.getenv("THINK_MS"))
local users = tonumber(os.getenv("USERS"))
local asked = 0

function init(args)
   wrk.headers["Cookie"] = os.getenv("COOKIE")
end

if think_ms > 0 then
   -- Asked before each request, also before the first: that one comes at a moment of its own.
   function delay()
      asked = asked + 1
      return asked <= users and math.random(0, think_ms) or think_ms
   end
end

function done(summary, latency, requests)
   local errors = summary.errors
   local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
   print(string.format("failed: %d", failed))
end
