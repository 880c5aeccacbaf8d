interface Addressed {
  provider: string;
  base_url: string | null;
}

/** Providers whose own address is known; the key of another one must never go there. */
const KNOWN = new Set(["openai", "anthropic", "google"]);

export const hasAddress = ({ provider, base_url }: Addressed): boolean =>
  base_url === null ? KNOWN.has(provider) : /^https?:$/.test(URL.parse(base_url)?.protocol ?? "");

/** What can stand in an Authorization header. */
export const isSendable = (api_key: string): boolean => /^[\x21-\x7e]+$/.test(api_key);

/** An address without the version at its end, which some SDKs add themselves, and people write all the same. */
export function withoutVersion(base_url: string, version: string): string {
  const base = base_url.replace(/\/+$/, "");
  return base.endsWith(`/${version}`) ? base.slice(0, -version.length - 1) : base;
}
