import { isKnownApi, type ProviderFormat } from "#events/provider.ts";

interface ProviderAddress {
  provider: string;
  format?: ProviderFormat;
  base_url: string | null;
}

/** The key of a provider goes to the default address of an API only if its name or its settings are that API's. */
export const hasAddress = ({ provider, format, base_url }: ProviderAddress): boolean =>
  base_url === null ? isKnownApi(format ?? provider) : /^https?:$/.test(URL.parse(base_url)?.protocol ?? "");

/** Whether a key can stand in an Authorization header. */
export const isSendableKey = (api_key: string): boolean => /^[\x21-\x7e]+$/.test(api_key);

/** A base URL without the API version at its end: we add the version, and people configure it anyway. */
export function withoutVersion(base_url: string, version: string): string {
  const base = base_url.replace(/\/+$/, "");
  return base.endsWith(`/${version}`) ? base.slice(0, -version.length - 1) : base;
}
