import { stateOf, type Key, type KeyState } from "../../api/keys.ts";

/** The parameters in the list's address. */
export interface KeySearch {
  /** Part of the name, or the end of the secret. */
  q?: string | undefined;
  state?: KeyState | undefined;
  /** Id of the project, or `none`. */
  project?: string | undefined;
  page?: number | undefined;
}

export const NO_PROJECT = "none";

/** Whether any filter is set. */
export const isFiltered = ({ q, state, project }: KeySearch): boolean =>
  [q, state, project].some((value) => value !== undefined);

/** `now`: epoch milliseconds. */
export function matches(key: Key, { q, state, project }: KeySearch, now: number): boolean {
  if (state && stateOf(key, now) !== state) return false;
  if (project && (key.project_id ?? NO_PROJECT) !== project) return false;
  return !q || key.name.toLowerCase().includes(q.toLowerCase()) || key.key_hint === q;
}
