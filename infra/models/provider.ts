/** Only OpenAI's own address is known; the key of another provider must never go there. */
export const hasAddress = ({ provider, base_url }: { provider: string; base_url: string | null }): boolean =>
  base_url !== null || provider === "openai";
