import { afterAll } from "vitest";
import { startProvider, type Reply } from "../doubles/provider.ts";
import { startPlatform } from "../platform.ts";

export type Deployment = Awaited<ReturnType<typeof startDeployment>>;

/** A platform whose `openai/…` models are the loopback provider's, and what a client needs to reach it. */
export async function startDeployment(more: Record<string, string> = {}) {
  const provider = await startProvider();
  afterAll(() => provider.close());
  const env = {
    OPENAI_API_KEY: "sk-deployment",
    OPENAI_BASE_URL: provider.url,
    PRIVATE_PROVIDER_HOSTS: "127.0.0.1",
    ...more,
  };
  const platform = await startPlatform({ env });
  const { api_key, admin } = await platform.organization();
  const completions = () => provider.requests.filter(({ method }) => method === "POST");

  return {
    platform,
    provider_url: provider.url,
    api_key,
    admin,
    base_url: `${platform.url}/api/openai/v1`,
    /** What the provider answers to completions from now on; without one it repeats what it was told. */
    answers(...replies: (Reply | undefined)[]) {
      let n = 0;
      provider.requests.length = 0;
      provider.script(({ method }) => (method === "POST" ? replies[Math.min(n++, replies.length - 1)] : undefined));
    },
    /** The last completion that the provider was asked for since then, and how many there were. */
    asked: () => completions().at(-1)!.body,
    credentialSeen: () => completions().at(-1)!.headers.authorization,
    calls: () => completions().length,
    /** Events of a type in the log. */
    async count(type: string): Promise<number> {
      const sql = "select count(*)::integer as n from log.events where type = $1";
      return (await platform.opened.db.query<{ n: number }>(sql, [type]))[0]!.n;
    },
  };
}

/** A picture of one pixel. */
export const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const PDF = Buffer.from("%PDF-1.7\nnot much of one\n").toString("base64");

/** As the provider double counts. */
export const USAGE = { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 };
