import { useState, type ReactNode } from "react";
import "./form.css";

interface Props<T> {
  /** What the groups are: "Targets". */
  legend: string;
  /** What one is: "target". */
  what: string;
  hint?: string;
  /** Those of the thing that is changed; undefined: a new one. */
  items: readonly (T | undefined)[];
  most: number;
  /** The fields of one. `field` makes their names. */
  children: (item: T | undefined, field: (name: string) => string, n: number) => ReactNode;
}

/** Fields that repeat: one group for each thing of a list. */
export function Repeated<T>({ legend, what, hint, items, most, children }: Props<T>) {
  const [groups, setGroups] = useState(() => items.map((item, id) => ({ id, item })));
  const add = () => setGroups([...groups, { id: Math.max(...groups.map(({ id }) => id)) + 1, item: undefined }]);
  return (
    <fieldset>
      <legend>{legend}</legend>
      {hint && <p className="quiet">{hint}</p>}
      {groups.map(({ id, item }, n) => (
        <div key={id} className="repeated" role="group" aria-label={`${what} ${n + 1}`}>
          {children(item, (name) => `${id}.${name}`, n)}
          {groups.length > 1 && (
            <button
              type="button"
              className="button small"
              onClick={() => setGroups(groups.filter((group) => group.id !== id))}
            >
              Leave out {what} {n + 1}
            </button>
          )}
        </div>
      ))}
      {groups.length < most && (
        <button type="button" className="button" onClick={add}>
          Add a {what}
        </button>
      )}
    </fieldset>
  );
}
