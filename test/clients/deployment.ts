import { countEvents } from "../countEvents.ts";
import { signIn } from "../http/service.ts";
import type { Reply } from "../doubles/openai.ts";
import { openPlatform } from "../sharedPlatform.ts";

export type Deployment = Awaited<ReturnType<typeof startDeployment>>;

/** A platform whose `openai/…` models are a double's, and what a client needs to reach it. Files without settings share the platform. */
export async function startDeployment(env?: Record<string, string>) {
  const { provider, platform } = await openPlatform(env);
  const { api_key, admin, organization_id } = await platform.organization();
  const { call: owner } = await signIn(platform.url, admin);
  // every client reads answers whose usage has a cost, which OpenAI's has not
  await owner("PUT", "/prices/openai/gpt-test", { prices: [PRICE] });
  const completions = () => provider.requests.filter(({ method }) => method === "POST");

  return {
    platform,
    provider_url: provider.url,
    api_key,
    admin,
    base_url: `${platform.url}/api/openai/v1`,
    /** Sets the provider's answers to the next completions. The last one is repeated; `undefined` repeats the input. */
    answers(...replies: (Reply | undefined)[]) {
      let n = 0;
      provider.requests.length = 0;
      provider.script(({ method }) => (method === "POST" ? replies[Math.min(n++, replies.length - 1)] : undefined));
    },
    /** The last completion that the provider received since `answers`. */
    asked: () => completions().at(-1)!.body,
    credentialSeen: () => completions().at(-1)!.headers.authorization,
    calls: () => completions().length,
    /** Events of a type in the organization. */
    count: (type: string) => countEvents(platform.resources.db, type, organization_id),
  };
}

/** A picture of one pixel. */
export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const PDF = Buffer.from("%PDF-1.7\nnot much of one\n").toString("base64");

const PRICE = { input: "1", output: "10" };
/** As the provider double counts. */
export const USAGE = { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19, cost: "0.000082" };
/** Usage with all its details, as a provider counts. */
export const COUNTED = {
  prompt_tokens: 30,
  completion_tokens: 20,
  total_tokens: 50,
  prompt_tokens_details: { cached_tokens: 10 },
  completion_tokens_details: { reasoning_tokens: 5 },
};
