interface ProviderAddress {
  provider: string;
  base_url: string | null;
}

/** Providers with a default address. The key of any other provider must never go to one of these. */
const DEFAULT_ADDRESS = new Set(["openai", "anthropic", "google"]);

export const hasAddress = ({ provider, base_url }: ProviderAddress): boolean =>
  base_url === null ? DEFAULT_ADDRESS.has(provider) : /^https?:$/.test(URL.parse(base_url)?.protocol ?? "");

/** Whether a key can stand in an Authorization header. */
export const isSendableKey = (api_key: string): boolean => /^[\x21-\x7e]+$/.test(api_key);

/** A base URL without the API version at its end: some SDKs add the version themselves, and people configure it anyway. */
export function withoutVersion(base_url: string, version: string): string {
  const base = base_url.replace(/\/+$/, "");
  return base.endsWith(`/${version}`) ? base.slice(0, -version.length - 1) : base;
}
