import type { Listing } from "../api/readAll.ts";
import { statusWord } from "../format/statusWord.ts";

/** One of several values that somebody chooses from. */
export interface Choice {
  value: string;
  label: string;
  /** It only says something, and cannot be chosen. */
  isNote?: boolean;
}

/** The options of a select. */
export const Options = ({ choices }: { choices: readonly Choice[] }) =>
  choices.map(({ value, label, isNote }) => (
    <option key={value} value={value} disabled={isNote}>
      {label}
    </option>
  ));

/** The choices with the one that is chosen, whether or not it is known yet: a field without it would choose another one. */
export const withChosen = (choices: readonly Choice[], chosen: string | null | undefined): readonly Choice[] =>
  !chosen || choices.some(({ value }) => value === chosen) ? choices : [...choices, { value: chosen, label: chosen }];

/** The choices of words that stand for themselves. */
export const wordChoices = (words: readonly string[]): Choice[] => words.map((word) => ({ value: word, label: word }));

/** The choices of statuses. */
export const statusChoices = (statuses: readonly string[]): Choice[] =>
  statuses.map((status) => ({ value: status, label: statusWord(status) }));

/** The choices of values with a label each. */
export const labelledChoices = (labels: Readonly<Record<string, string>>): Choice[] =>
  Object.entries(labels).map(([value, label]) => ({ value, label }));

/** The choices of a list, and that there are more of them where it is not whole. `what`: "members". */
export const listedChoices = <T,>(list: Listing<T> | undefined, what: string, choice: (row: T) => Choice): Choice[] => [
  ...(list?.data.map(choice) ?? []),
  ...(list && !list.isWhole ? [{ value: `more ${what}`, label: `more ${what} than can be listed`, isNote: true }] : []),
];

/** The same of things that have a name. */
export const namedChoices = (list: Listing<{ id: string; name: string }> | undefined, what: string): Choice[] =>
  listedChoices(list, what, ({ id, name }) => ({ value: id, label: name }));
