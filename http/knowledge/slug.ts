import { isUuid } from "#events/ids.ts";

/** Maximum characters, the same as for a name. */
const MAX_SLUG_LENGTH = 120;
const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
/** Letters that Unicode does not decompose into a base letter and a mark. */
const TRANSLITERATED: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i",
};

/** Whether a text has the form of a slug. */
export const isSlug = (text: string): boolean => text.length <= MAX_SLUG_LENGTH && SLUG.test(text);

/** `grosse-bucher` for "Große Bücher!". Undefined if no letter or digit remains, or if the slug would look like an id. */
export function toSlug(name: string): string | undefined {
  const plain = name
    .toLowerCase()
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[ßæœøłđðþı]/g, (letter) => TRANSLITERATED[letter]!)
    .toLowerCase();
  const slug = plain
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, MAX_SLUG_LENGTH + 1)
    .replace(/^-/, "")
    .slice(0, MAX_SLUG_LENGTH)
    .replace(/-$/, "");
  return slug === "" || isUuid(slug) ? undefined : slug;
}
