import { isUuid } from "#events/ids.ts";

const LONGEST = 120;
const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
/** Letters that do not come apart into a plain one and its mark. */
const SPELLED: Readonly<Record<string, string>> = {
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

/** Whether a reference can be a slug. */
export const isSlug = (text: string): boolean => text.length <= LONGEST && SLUG.test(text);

/** `grosse-bucher` for "Große Bücher!"; undefined when nothing is left of a name, or what is left would read as an id. */
export function slugOf(name: string): string | undefined {
  const plain = name
    .toLowerCase()
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[ßæœøłđðþı]/g, (letter) => SPELLED[letter]!)
    .toLowerCase();
  const slug = plain
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, LONGEST + 1)
    .replace(/^-/, "")
    .slice(0, LONGEST)
    .replace(/-$/, "");
  return slug === "" || isUuid(slug) ? undefined : slug;
}
