// BullMQ: submits work, with the arguments and the output of client.py.
const { Queue } = require("bullmq");

const BATCH = 1000;
const now = () => (performance.timeOrigin + performance.now()) / 1000;

const main = async (work, count, ...numbers) => {
  const connection = { host: "127.0.0.1", port: Number(process.env.PEER_REDIS_PORT) };
  const queue = new Queue("work", { connection });
  await queue.waitUntilReady();
  const began = now();
  const [first, second] = numbers;
  const due =
    work === "stamp" ? Array.from({ length: count }, (_, n) => began + first + (n * second) / count) : [];
  const one = {
    noop: () => ({ name: "noop", data: {} }),
    stamp: (number) => {
      const delay = Math.max(0, Math.round((due[number] - now()) * 1000));
      return { name: "stamp", data: { number }, opts: { delay } };
    },
    nap: (number) => ({ name: "nap", data: { number, seconds: first }, opts: { attempts: 5 } }),
  }[work];
  for (let begin = 0; begin < count; begin += BATCH) {
    const length = Math.min(BATCH, count - begin);
    await queue.addBulk(Array.from({ length }, (_, n) => one(begin + n)));
  }
  console.log(JSON.stringify({ began, submitted: now(), due }));
  await queue.close();
};

main(process.argv[2], ...process.argv.slice(3).map(Number));
