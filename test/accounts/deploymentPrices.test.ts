import { expect, test } from "vitest";
import { afterFile } from "../cleanUp.ts";
import { startOpenai } from "../doubles/openai.ts";
import { openPeople } from "./people.ts";
import { ask, openSpender } from "./spender.ts";

/* Published prices are those of a provider's own address, not of one that the deployment has set (docs/spending.md). */

const provider = await startOpenai();
afterFile(() => provider.close());
const people = await openPeople({ OPENAI_API_KEY: "k", OPENAI_BASE_URL: provider.url });

const MODEL = "gpt-4o";
const ANSWER = {
  choices: [{ index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1 },
};

test("a budget of money holds nothing for a model without a price of its own at the deployment's own address", async () => {
  const held = Promise.withResolvers<void>();
  let prompts = 0;
  provider.script(({ method }) => {
    if (method !== "POST") return { status: 200, body: { object: "list", data: [{ id: MODEL }] } };
    const isFirst = ++prompts === 1;
    return {
      async write(response) {
        if (isFirst) await held.promise;
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(ANSWER));
      },
    };
  });
  const { first: call, set, limit } = await openSpender(people);
  await set("organization", { cost_per_day: "0.000001" });
  const question = { model: `openai/${MODEL}` };
  const first = ask(call, question);
  try {
    await expect.poll(() => prompts).toBe(1);
    expect((await ask(call, question)).status).toBe(200);
    expect(await limit()).toMatchObject({ spent: "0", reserved: "0" });
  } finally {
    held.resolve();
  }
  expect((await first).status).toBe(200);
});
