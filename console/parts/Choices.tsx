import type { Listing } from "../api/readAll.ts";
import { statusWord } from "../format/statusWord.ts";

/** One choice of a select. */
export interface Choice {
  value: string;
  label: string;
  /** Shows a note that cannot be selected. */
  isNote?: boolean;
}

/** The options of a select. */
export const Options = ({ choices }: { choices: readonly Choice[] }) =>
  choices.map(({ value, label, isNote }) => (
    <option key={value} value={value} disabled={isNote}>
      {label}
    </option>
  ));

/** The choices with the current value, even if it is not known yet. Without it the field would select another value. */
export const includeChosen = (choices: readonly Choice[], chosen: string | null | undefined): readonly Choice[] =>
  !chosen || choices.some(({ value }) => value === chosen) ? choices : [...choices, { value: chosen, label: chosen }];

/** Choices whose labels are their values. */
export const wordChoices = (words: readonly string[]): Choice[] => words.map((word) => ({ value: word, label: word }));

export const statusChoices = (statuses: readonly string[]): Choice[] =>
  statuses.map((status) => ({ value: status, label: statusWord(status) }));

/** Choices with a label for each value. */
export const labelledChoices = (labels: Readonly<Record<string, string>>): Choice[] =>
  Object.entries(labels).map(([value, label]) => ({ value, label }));

/** The choices of a list, and a note if there are more than the list contains. `what`: "members". */
export const listedChoices = <T,>(list: Listing<T> | undefined, what: string, choice: (row: T) => Choice): Choice[] => [
  ...(list?.data.map(choice) ?? []),
  ...(list && !list.isWhole ? [{ value: `more ${what}`, label: `more ${what} than can be listed`, isNote: true }] : []),
];

/** `listedChoices` for items with an id and a name. */
export const namedChoices = (list: Listing<{ id: string; name: string }> | undefined, what: string): Choice[] =>
  listedChoices(list, what, ({ id, name }) => ({ value: id, label: name }));
