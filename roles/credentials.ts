import type { Settings } from "#infra/config.ts";
import type { Credential } from "#services/turns/model.ts";

/** The deployment's own provider credentials. The operator chose their addresses, so requests need no guard. */
export function deploymentCredentials(settings: Settings): Credential[] {
  const configured: [provider: string, api_key: string | undefined, base_url: string | undefined][] = [
    ["openai", settings.OPENAI_API_KEY, settings.OPENAI_BASE_URL],
    ["anthropic", settings.ANTHROPIC_API_KEY, settings.ANTHROPIC_BASE_URL],
    ["google", settings.GEMINI_API_KEY, settings.GEMINI_BASE_URL],
  ];
  return configured.flatMap(([provider, api_key, base_url = null]) =>
    api_key === undefined ? [] : [{ provider, api_key, base_url, guarded: false }],
  );
}
