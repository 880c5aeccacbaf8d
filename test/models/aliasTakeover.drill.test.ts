import { beforeAll, expect, test, vi } from "vitest";
import { startProcesses } from "../agents/deployment.ts";
import { clientOf } from "../http/service.ts";
import { holdAfter, startProviders } from "./providers.ts";

/* A worker is killed after a target of an alias has failed and while the next one is asked. */

let processes: Awaited<ReturnType<typeof startProcesses>>;
let models: Awaited<ReturnType<typeof startProviders>>;
beforeAll(async () => {
  models = await startProviders();
  processes = await startProcesses(models.env);
}, 90_000);

test("another worker goes on with the next target, and nothing is asked or counted twice", async () => {
  const { openai: first, anthropic: second } = models.providers;
  const { person, home, api_key } = processes;
  const targets = [{ model: first.model }, { model: second.model }];
  expect((await person.call("PUT", "/aliases/fast", { targets })).status).toBe(200);
  first.reply({ status: 500, body: first.dialect.errorBody(500, "Broken.") });
  const held = holdAfter(second);
  const chat = clientOf({ chat: `${home.url}/api/openai/v1` }, api_key);
  const answer = chat("POST", "/chat/completions", { model: "fast", messages: [{ role: "user", content: "Hello" }] });
  await vi.waitFor(() => expect(held.open()).toBe(1), { timeout: 30_000 });
  processes.worker.kill();
  second.reply({ text: "The second." });
  await processes.start("services");

  expect((await answer).body).toMatchObject({
    model: second.model,
    choices: [{ message: { content: "The second." } }],
    usage: { prompt_tokens: 12 },
  });
  expect(first.prompts()).toHaveLength(1);
  const count = (type: string) => processes.count(type);
  expect([await count("TargetFailed"), await count("TurnTakenOver"), await count("TurnCompleted")]).toEqual([1, 1, 1]);
  const { data } = (await person.call("GET", "/usage?group_by=model")).body;
  expect(data).toMatchObject([{ model: second.model, turns: 1, prompt_tokens: 12 }]);
}, 90_000);
