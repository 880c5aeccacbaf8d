import type { ServerResponse } from "node:http";
import { afterAll } from "vitest";
import type { Answer, Dialect, DialectDouble } from "../doubles/dialect.ts";
import { DIALECTS } from "../doubles/dialects.ts";

export type ProviderName = Dialect["name"];
export const PROVIDERS = DIALECTS.map(({ name }) => name);

/** A provider's double as a test of the whole platform sees it. */
export type Provider = DialectDouble & {
  dialect: Dialect;
  /** As API clients name it, `provider/model`. */
  model: string;
};

/** The doubles of all providers, which end with the test file, and the settings of a deployment with a credential for each. */
export async function startProviders() {
  const started = await Promise.all(
    DIALECTS.map(async (dialect): Promise<Provider> => {
      const double = await dialect.start();
      return { ...double, dialect, model: `${dialect.name}/${dialect.model}` };
    }),
  );
  afterAll(() => Promise.all(started.map(({ close }) => close())));
  const providers = Object.fromEntries(started.map((one) => [one.dialect.name, one])) as Record<ProviderName, Provider>;
  const env: Record<string, string> = {};
  for (const { dialect, url } of started) {
    const [key, baseUrl] = dialect.settings;
    env[key] = dialect.apiKey;
    env[baseUrl] = url;
  }
  return { providers, env };
}

/** The provider gives these answers and holds all further requests open; `end` closes them without an answer. */
export function holdAfter({ reply }: Provider, ...answers: Answer[]) {
  const held: ServerResponse[] = [];
  reply(...answers, { write: (response) => void held.push(response) });
  return {
    open: () => held.filter(({ destroyed }) => !destroyed).length,
    end: () => held.forEach((one) => one.destroy()),
  };
}
