// BullMQ: works off the queue `work` with so many slots as its argument says.
const { appendFileSync } = require("node:fs");
const { setTimeout } = require("node:timers/promises");
const { Worker } = require("bullmq");

const record = (event, number) => {
  const now = (performance.timeOrigin + performance.now()) / 1000;
  appendFileSync(process.env.PEER_RECORD, `${event} ${number} ${now.toFixed(6)}\n`);
};

const work = {
  noop: async () => null,
  stamp: async ({ number }) => record("began", number),
  nap: async ({ number, seconds }) => {
    record("began", number);
    await setTimeout(seconds * 1000);
    record("ended", number);
  },
};

new Worker("work", (job) => work[job.name](job.data), {
  connection: { host: "127.0.0.1", port: Number(process.env.PEER_REDIS_PORT) },
  concurrency: Number(process.argv[2]),
});
