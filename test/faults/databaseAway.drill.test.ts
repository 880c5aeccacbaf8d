import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, inject, test } from "vitest";
import { startEmbeddedServers } from "#infra/embedded/index.ts";
import { clientOf, say } from "../http/service.ts";
import { testBus, testDataFolder } from "../harness.ts";
import { startPlatform } from "../platform.ts";
import { readStream } from "./faultyProvider.ts";

/** Longer than a worker may be silent before its turns go to another. */
const AWAY_MS = 11_500;
const WORDS = "word ".repeat(32);

/** Stops a PostgreSQL server with all its processes; the returned function continues them. */
function freeze(folder: string): () => void {
  const { pid } = JSON.parse(readFileSync(join(folder, "run", "postgres.pid"), "utf8")) as { pid: number };
  const children = execFileSync("pgrep", ["-P", String(pid)], { encoding: "utf8" })
    .trim()
    .split("\n")
    .map(Number);
  const all = [pid, ...children];
  for (const one of all) process.kill(one, "SIGSTOP");
  return () => all.forEach((one) => process.kill(one, "SIGCONT"));
}

test("turns of live workers are not taken over during a long database outage", async () => {
  const folder = await testDataFolder();
  const { url: NATS_URL, prefix } = testBus();
  const { meili_url: MEILI_URL, meili_master_key: MEILI_MASTER_KEY } = inject("services");
  const services = await startEmbeddedServers({ DATA_DIR: folder, NATS_URL, MEILI_URL, MEILI_MASTER_KEY }, () => {});
  const addresses = { ...services, master_key: Buffer.alloc(32, 3).toString("base64") };
  const deployment = { addresses, prefix, folder };
  const workers = await Promise.all([1, 2, 3].map(() => startPlatform({ roles: ["services"], deployment })));
  const face = await startPlatform({ roles: ["http", "projections"], deployment });
  try {
    const { api_key } = await face.organization();
    const call = clientOf({ chat: `${face.url}/api/openai/v1` }, api_key);
    const ask = (stream: boolean) =>
      call(
        "POST",
        "/chat/completions",
        say(`/slow ${stream ? 0.5 : 15}\n/say ${WORDS}`, { model: "offline/scripted", stream }),
      );
    const turns = Array.from({ length: 12 }, (_, n) => ask(n % 2 === 0));
    await sleep(1_000);
    const goOn = freeze(folder);
    await sleep(AWAY_MS);
    goOn();
    const answers = await Promise.all(turns);
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    for (const [n, { text, body }] of answers.entries()) {
      const said =
        n % 2 === 0 ? readStream(text) : { text: body.choices[0].message.content, done: true, error: undefined };
      expect(said).toEqual({ text: WORDS, done: true, error: undefined });
    }
    const count = "select type, count(*)::integer as n from log.events where type like 'Turn%' group by 1 order by 1";
    expect(await face.resources.db.query(count, [])).toEqual([
      { type: "TurnCompleted", n: 12 },
      { type: "TurnStarted", n: 12 },
    ]);
  } finally {
    await Promise.all([...workers, face].map((platform) => platform.stop()));
    await services.stop();
  }
});
