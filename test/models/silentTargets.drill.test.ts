import { expect, test } from "vitest";
import { signIn } from "../agents/agents.ts";
import { chunksOf, clientOf } from "../http/service.ts";
import { startPlatform } from "../platform.ts";
import { startProviders } from "./providers.ts";

/* A target that never answers costs one slow request also where turns have less time than an alias gives it. */

const SECONDS = 7;
const HANG = { write: () => {} };

test("a target that stays silent until the end of a short turn is skipped by the next turns", async () => {
  const { providers, env } = await startProviders();
  const { openai: first, anthropic: second } = providers;
  const settings = { ...env, PRIVATE_PROVIDER_HOSTS: "127.0.0.1", TURN_SECONDS: String(SECONDS) };
  const platform = await startPlatform({ env: settings });
  const { api_key, admin } = await platform.organization();
  const person = await signIn(platform.url, admin);
  const chat = clientOf({ chat: `${platform.url}/api/openai/v1` }, api_key);
  await person.call("PUT", "/aliases/fast", { targets: [{ model: first.model }, { model: second.model }] });
  const ask = (stream: boolean) =>
    chat("POST", "/chat/completions", { model: "fast", messages: [{ role: "user", content: "Hello" }], stream });
  first.reply(HANG);
  second.reply({ text: "The second." });

  const late = await ask(false);
  expect([late.status, late.body.error.message]).toEqual([
    502,
    "The model did not finish within the time that a turn has.",
  ]);
  const { targets } = (await person.call("GET", "/health")).body;
  expect(targets.find(({ target }: any) => target === first.model)).toMatchObject({
    state: "open",
    last_error: "timeout",
  });
  const answer = (await ask(false)).body;
  expect([answer.model, answer.choices[0].message.content]).toEqual([second.model, "The second."]);
  expect(chunksOf((await ask(true)).text)[0]).toMatchObject({ model: second.model });
  expect(first.prompts()).toHaveLength(1);
});
