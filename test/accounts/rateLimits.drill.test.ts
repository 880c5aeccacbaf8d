import { expect, test } from "vitest";
import { clientOf, say } from "../http/service.ts";
import { signIn } from "../agents/agents.ts";
import { startPlatform, testDeployment, type Platform } from "../platform.ts";

/* Limits of a minute over several http processes, and after a restart (docs/spending.md). */

const LIMIT = 100;
const callOf = ({ url }: Platform, key: string) => clientOf({ chat: `${url}/api/openai/v1` }, key);

test("two processes enforce a limit per minute within 5 %, and a process that starts later counts the earlier turns", async () => {
  const deployment = await testDeployment();
  const first = await startPlatform({ deployment });
  const second = await startPlatform({ deployment, roles: ["http"] });
  const { api_key, admin } = await first.organization();
  const owner = (await signIn(first.url, admin)).call;
  const shown = async (platform: Platform) =>
    Number((await (await signIn(platform.url, admin)).call("GET", "/budgets/organization")).body.limits[0].spent);
  await owner("PUT", "/budgets/organization", { requests_per_minute: LIMIT });
  const calls = [first, second].map((platform) => callOf(platform, api_key));
  // each process counts from its first turn on
  for (const call of calls)
    await expect
      .poll(async () => (await call("POST", "/chat/completions", say("Hi"))).headers.has("x-ratelimit-limit-requests"))
      .toBe(true);
  const before = await shown(first);
  const answers = await Promise.all(
    Array.from({ length: 3 * LIMIT }, (_, n) => calls[n % 2]!("POST", "/chat/completions", say(`Hi ${n}`))),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]));
  const admitted = before + answers.filter(({ status }) => status === 200).length;
  expect(admitted).toBeGreaterThanOrEqual(LIMIT);
  expect(admitted).toBeLessThanOrEqual(LIMIT * 1.05);
  // both are read each time: a turn that was withdrawn a moment ago leaves the figure of its own process too
  const both = () => Promise.all([first, second].map(shown));
  await expect.poll(both).toSatisfy(([one, other]: number[]) => one === other && one! >= LIMIT);

  const third = await startPlatform({ deployment, roles: ["http"] });
  await expect.poll(() => shown(third)).toBeGreaterThanOrEqual(LIMIT);
  expect((await callOf(third, api_key)("POST", "/chat/completions", say("Hi"))).status).toBe(429);
});
