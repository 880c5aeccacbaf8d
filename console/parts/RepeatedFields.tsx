import { useState, type ReactNode } from "react";
import "./form.css";

interface Props<T> {
  /** The label of the groups: "Targets". */
  legend: string;
  /** The noun for one group: "target". */
  what: string;
  hint?: string;
  /** The parameter of the request that the groups make. */
  param: string;
  /** The groups of the item that is edited; undefined for a new item. */
  items: readonly (T | undefined)[];
  most: number;
  /** The fields of one group. `field` generates their names. */
  children: (item: T | undefined, field: (name: string) => string, n: number) => ReactNode;
}

/** A group of fields for each entry of a list. */
export function RepeatedFields<T>({ legend, what, hint, param, items, most, children }: Props<T>) {
  const [groups, setGroups] = useState(() => items.map((item, id) => ({ id, item })));
  const add = () => setGroups([...groups, { id: Math.max(...groups.map(({ id }) => id)) + 1, item: undefined }]);
  return (
    <fieldset data-params={param}>
      <legend>{legend}</legend>
      {hint && <p className="quiet">{hint}</p>}
      {groups.map(({ id, item }, n) => (
        <div key={id} className="repeated" role="group" aria-label={`${what} ${n + 1}`}>
          {children(item, (name) => `${id}.${name}`, n)}
          {groups.length > 1 && (
            <button
              type="button"
              className="button small"
              onClick={({ currentTarget }) => {
                // for the form, this is a change of a field: it asks before it is left
                currentTarget.dispatchEvent(new Event("input", { bubbles: true }));
                setGroups(groups.filter((group) => group.id !== id));
              }}
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
