interface Addressed {
  provider: string;
  base_url: string | null;
}

/** Only OpenAI's own address is known; the key of another provider must never go there. */
export const hasAddress = ({ provider, base_url }: Addressed): boolean =>
  base_url === null ? provider === "openai" : /^https?:$/.test(URL.parse(base_url)?.protocol ?? "");

/** What can stand in an Authorization header. */
export const isSendable = (api_key: string): boolean => /^[\x21-\x7e]+$/.test(api_key);
