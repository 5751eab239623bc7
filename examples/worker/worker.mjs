// A Duetime worker in Node.js 20, without a package: node worker.mjs http://127.0.0.1:8080 [pool]
const [url = "http://127.0.0.1:8080", pool = null] = process.argv.slice(2);
const worker = `node-${process.pid}`;
const handlers = {
  "node.resize": async ({ width }, { progress }) => {
    progress(0.5, "half way");
    return { width, height: Math.round(width / 1.5) };
  },
};

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const ulid = () =>
  Array.from({ length: 10 }, (_, i) => alphabet[Math.floor(Date.now() / 32 ** (9 - i)) % 32]).join("") +
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => alphabet[byte % 32]).join("");

async function call(name, body) {  // repeats until the runner answers; every call can be repeated
  const headers = { "content-type": "application/json", authorization: `Bearer ${process.env.DUETIME_TOKEN}` };
  for (let pause = 200; ; pause = Math.min(pause * 2, 5000)) {
    const options = { method: "POST", headers, body: JSON.stringify({ worker, ...body }) };
    const answer = await fetch(`${url}/v1/workers/${name}`, options).catch(() => null);
    if (answer?.ok) return answer.json();
    if (answer && ![429, 500, 502, 503, 504].includes(answer.status)) throw new Error(await answer.text());
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

async function run({ task, holder }) {
  const lease = { id: task.id, holder };
  const renew = (progress) => call("renew", { leases: [progress ? { ...lease, progress } : lease] });
  const heartbeat = setInterval(renew, 10_000);  // stop on 409 or cancel_requested, if the work is long
  const progress = (fraction, message) => renew({ fraction, message });
  const outcome = await handlers[task.target.handler](task.payload, { task, progress }).then(
    (result) => ({ outcome: "succeeded", result }),
    (error) => ({ outcome: "failed", error: { type: error.name, message: error.message } }),
  );
  clearInterval(heartbeat);
  await call("outcome", { outcomes: [{ ...lease, ...outcome }] });
}

for (;;) {
  const wanted = { pool, handlers: Object.keys(handlers), max: 10, wait: 20, request: ulid() };
  const { leases } = await call("lease", wanted);
  await Promise.all(leases.map(run));
}
