const NAMES = new Intl.DisplayNames("en", { type: "language", fallback: "none" });

/** The English name of a language of text recognition: `deu`, or `chi_sim`, whose second part is its script. */
export function languageName(language: string): string {
  const [code = "", ...script] = language.split("_");
  const name = /^[a-z]{2,3}$/.test(code) ? NAMES.of(code) : undefined;
  return [name ?? code, ...script].join(" ");
}
