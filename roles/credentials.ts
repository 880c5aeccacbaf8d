import type { Settings } from "#infra/config.ts";
import type { Credential } from "#services/turns/model.ts";

/** Provider credentials of the deployment itself; its operator named their addresses, so they are not guarded. */
export function deploymentCredentials(settings: Settings): Credential[] {
  if (!settings.OPENAI_API_KEY) return [];
  return [
    {
      provider: "openai",
      api_key: settings.OPENAI_API_KEY,
      base_url: settings.OPENAI_BASE_URL ?? null,
      guarded: false,
    },
  ];
}
