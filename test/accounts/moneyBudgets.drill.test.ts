import { expect, test } from "vitest";
import { signIn } from "../agents/agents.ts";
import { startProcess } from "../faults/processes.ts";
import { clientOf, say } from "../http/service.ts";
import { startPlatform, testDeployment } from "../platform.ts";
import { chargeDollar } from "./chargeDollar.ts";

/* A budget of money over several http processes, one of which is killed in mid-turn (docs/spending.md, ADR 55). */

const LIMIT = 12;
/** Turns that a further process may let pass near the limit. */
const MOST_BEYOND = 1;

test("bursts in two processes do not exceed a hard budget, even after one process is killed, and no reservation remains", async () => {
  const deployment = await testDeployment();
  const platform = await startPlatform({ deployment });
  const victim = await startProcess("http", deployment);
  const { api_key, admin } = await platform.organization();
  const owner = (await signIn(platform.url, admin)).call;
  await chargeDollar(owner, "offline/echo", "offline/scripted");
  await owner("PUT", "/budgets/organization", { cost_per_month: String(LIMIT) });
  const limit = async () => (await owner("GET", "/budgets/organization")).body.limits[0];
  const [here, there] = [platform, victim].map(({ url }) => clientOf({ chat: `${url}/api/openai/v1` }, api_key));
  const ask = (call: typeof here, text: string, model = "offline/echo") =>
    call!("POST", "/chat/completions", { ...say(text), model });

  const cutOff = Array.from({ length: 4 }, (_, n) =>
    ask(there, `/slow 8\nHi ${n}`, "offline/scripted").catch(() => {}),
  );
  await expect.poll(async () => (await limit()).reserved).toBe("4");
  victim.kill();
  await Promise.all(cutOff);
  const successor = await startProcess("http", deployment);
  const next = clientOf({ chat: `${successor.url}/api/openai/v1` }, api_key);
  // each process has begun to count, and knows the other
  for (const call of [here, next]) expect((await ask(call, "First")).status).toBe(200);
  const answers = await Promise.all(
    Array.from({ length: 5 * LIMIT }, (_, n) => ask(n % 2 === 0 ? here : next, `Hi ${n}`)),
  );
  expect(new Set(answers.map(({ status }) => status)).isSubsetOf(new Set([200, 402, 429]))).toBe(true);
  const answered = answers.filter(({ status }) => status === 200).length;
  expect(answered).toBeGreaterThanOrEqual(LIMIT - 6);
  expect(answered).toBeLessThanOrEqual(LIMIT - 6 + MOST_BEYOND);
  await expect.poll(async () => (await limit()).reserved, { timeout: 30_000 }).toBe("0");
  const { spent } = await limit();
  expect(Number(spent)).toBeLessThanOrEqual(LIMIT + MOST_BEYOND);
  expect(spent).toBe((await owner("GET", "/usage")).body.totals.cost);
});
