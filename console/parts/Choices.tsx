import { statusWord } from "../format/statusWord.ts";

/** One of several values that somebody chooses from. */
export interface Choice {
  value: string;
  label: string;
}

/** The options of a select. */
export const Options = ({ choices }: { choices: readonly Choice[] }) =>
  choices.map(({ value, label }) => (
    <option key={value} value={value}>
      {label}
    </option>
  ));

/** The choices of words that stand for themselves. */
export const wordChoices = (words: readonly string[]): Choice[] => words.map((word) => ({ value: word, label: word }));

/** The choices of statuses. */
export const statusChoices = (statuses: readonly string[]): Choice[] =>
  statuses.map((status) => ({ value: status, label: statusWord(status) }));

/** The choices of values with a label each. */
export const labelledChoices = (labels: Readonly<Record<string, string>>): Choice[] =>
  Object.entries(labels).map(([value, label]) => ({ value, label }));

/** The choices of things that have a name. */
export const namedChoices = (things: readonly { id: string; name: string }[] = []): Choice[] =>
  things.map(({ id, name }) => ({ value: id, label: name }));
