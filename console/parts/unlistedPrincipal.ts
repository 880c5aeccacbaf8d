import type { Listing } from "../api/readAll.ts";
import { shortId } from "../format/index.ts";
import type { Choice } from "./Choices.tsx";

const WORDS: Record<string, { present: string; former: string }> = {
  person: { present: "person", former: "former member" },
  key: { present: "key", former: "deleted key" },
};

/** The choice for a person or key that the list lacks, by kind. Only a complete list proves that it was removed; the id distinguishes several. */
export function unlistedPrincipal(
  value: string,
  lists: Record<string, Pick<Listing<unknown>, "isWhole"> | undefined>,
): Choice {
  const [kind = "", id = ""] = value.split(":", 2);
  const words = WORDS[kind];
  if (!words) return { value, label: value };
  return { value, label: `${lists[kind]?.isWhole ? words.former : words.present} ${shortId(id)}` };
}
