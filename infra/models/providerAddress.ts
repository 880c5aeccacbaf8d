import { isKnownApi, type ProviderFormat } from "#events/provider.ts";

interface ProviderAddress {
  provider: string;
  format?: ProviderFormat;
  base_url: string | null;
}

/**
 * Whether a provider has an address. The default address of an API is used only if the provider's name or settings name that API,
 * so that a key never goes to a foreign one.
 */
export const hasAddress = ({ provider, format, base_url }: ProviderAddress): boolean =>
  base_url === null ? isKnownApi(format ?? provider) : /^https?:$/.test(URL.parse(base_url)?.protocol ?? "");

/** Whether a key is valid in an Authorization header. */
export const isSendableKey = (api_key: string): boolean => /^[\x21-\x7e]+$/.test(api_key);

/** Removes the API version from the end of a base URL: we add it, and people often configure it as well. */
export function withoutVersion(base_url: string, version: string): string {
  const base = base_url.replace(/\/+$/, "");
  return base.endsWith(`/${version}`) ? base.slice(0, -version.length - 1) : base;
}
