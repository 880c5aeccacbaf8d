import OpenAI from "openai";
import { expect, test } from "vitest";
import { signIn } from "../agents/agents.ts";
import { startProcess } from "../faults/processes.ts";
import { clientOf } from "../http/service.ts";
import { startPlatform, testDeployment, type Deployment } from "../platform.ts";
import { chargeDollar } from "./chargeDollar.ts";

/* What a client of OpenAI's API reads in headers, at the limit in the middle of a stream, and after all processes were killed. */

const MODEL = "offline/echo";
const SCRIPTED = "offline/scripted";

/** Every role as a process of its own. */
async function startAll(deployment: Deployment) {
  const processes = await Promise.all(
    (["http", "services", "projections"] as const).map((role) => startProcess(role, deployment)),
  );
  return {
    url: processes[0]!.url,
    async kill() {
      for (const { kill } of processes) kill();
      await Promise.all(processes.map(({ ended }) => ended));
    },
  };
}

const say = (content: string, model = MODEL) => ({ model, messages: [{ role: "user" as const, content }] });

/** Asks by OpenAI's client and gives the answer with the headers that its users read. */
async function openClient(url: string, apiKey: string) {
  const client = new OpenAI({ apiKey, baseURL: `${url}/api/openai/v1`, maxRetries: 0 });
  const api = clientOf({ chat: `${url}/api` }, apiKey);
  return {
    client,
    async ask(content: string) {
      const { data, response } = await client.chat.completions.create(say(content)).withResponse();
      const of = (name: string) => response.headers.get(name);
      return {
        cost: (data.usage as unknown as { cost: string }).cost,
        shown: { cost: of("x-turn-cost"), model: of("x-turn-model"), left: of("x-ratelimit-remaining-requests") },
      };
    },
    limits: async (): Promise<any[]> => (await api("GET", "/limits")).body.data,
  };
}

test("a limit that is reached during a stream does not cut the stream off, and a kill of all processes loses no usage", async () => {
  const deployment = await testDeployment();
  const platform = await startPlatform({ deployment });
  const { api_key, admin } = await platform.organization();
  const owner = (await signIn(platform.url, admin)).call;
  await chargeDollar(owner, MODEL, SCRIPTED);
  await owner("PUT", "/budgets/organization", {
    cost_per_day: "3",
    cost_per_week: "30",
    cost_total: "300",
    tokens_per_month: 1_000_000,
    requests_per_day: 50,
    requests_per_minute: 40,
  });
  await owner("PUT", `/budgets/organization?model=${MODEL}`, { cost_total: "100", requests_per_minute: 30 });
  await platform.stop();

  const before = await startAll(deployment);
  const { client, ask, limits } = await openClient(before.url, api_key);
  expect(await ask("One")).toEqual({ cost: "1", shown: { cost: "1", model: MODEL, left: "29" } });
  expect((await ask("Two")).shown.left).toBe("28");

  const stream = await client.chat.completions.create({
    ...say("/slow 1\nlong answer with several words", SCRIPTED),
    stream: true,
    stream_options: { include_usage: true },
  });
  // the stream holds the last dollar while it speaks
  const refused = await client.chat.completions.create(say("Three")).catch((error: unknown) => error);
  expect(refused).toMatchObject({ status: 429, code: "budget_reserved" });
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("long answer with several words");
  expect(chunks.at(-1)?.usage).toMatchObject({ cost: "1" });
  await expect
    .poll(async () => client.chat.completions.create(say("Four")).catch((error: unknown) => error))
    .toMatchObject({ status: 402, code: "budget_exceeded", type: "billing_error" });

  const figures = (all: any[]) =>
    all.flatMap(({ model, limits: own }) =>
      own
        // a minute slides on meanwhile
        .filter(({ period }: any) => period !== "minute")
        .map(({ name, spent, left, reserved }: any) => [model, name, spent, left, reserved]),
    );
  const total = expect.any(String);
  const expected = [
    [null, "requests_per_day", "3", "47", undefined],
    [null, "tokens_per_month", total, total, undefined],
    [null, "cost_per_day", "3", "0", "0"],
    [null, "cost_per_week", "3", "27", "0"],
    [null, "cost_total", "3", "297", "0"],
    [MODEL, "cost_total", "2", "98", "0"],
  ];
  await expect.poll(async () => figures(await limits())).toEqual(expected);
  const known = figures(await limits());
  await before.kill();
  const after = await startAll(deployment);
  const next = await openClient(after.url, api_key);
  await expect.poll(async () => figures(await next.limits())).toEqual(known);
  await expect(next.ask("Five")).rejects.toMatchObject({ status: 402, code: "budget_exceeded" });
});
