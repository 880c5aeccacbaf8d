import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { listKeys } from "../../api/keys.ts";
import { listMembers } from "../../api/members.ts";
import { listAgents } from "../../api/requests.ts";
import { formText } from "../../parts/formText.ts";
import { namedChoices, Options, type Choice } from "../../parts/Choices.tsx";

/** Kinds whose subjects are listed. */
type Listed = "person" | "key" | "agent";

const LABELS: Record<Listed | "user", string> = {
  person: "a person",
  key: "an API key",
  agent: "an agent",
  user: "an end user of API keys",
};
const DELETED = "deleted";

/** The first 500 of each kind. */
function useListed(): Record<Listed, Choice[]> {
  const people = useQuery(listMembers());
  const keys = useQuery(listKeys());
  const agents = useQuery(listAgents);
  return {
    person: (people.data?.data ?? []).map(({ id, name, email }) => ({ value: id, label: `${name} (${email})` })),
    key: namedChoices(keys.data?.data),
    agent: namedChoices(agents.data?.data),
  };
}

/** The name of a subject; its kind and id where it is not known. */
export function useSubjectName(): (subject: string) => string {
  const listed = useListed();
  return (subject) => {
    const [kind = "", id = ""] = subject.split(":", 2);
    if (kind === "user") return "an end user";
    return listed[kind as Listed]?.find(({ value }) => value === id)?.label ?? subject;
  };
}

/** Throws an Error if nobody was named. */
export function readSubject(form: FormData): string {
  const kind = formText(form, "kind");
  const chosen = formText(form, "chosen");
  const value = chosen && chosen !== DELETED ? chosen : formText(form, "value").trim();
  if (!value) throw new Error("Say whom it is about.");
  return `${kind}:${value}`;
}

interface Props {
  kinds: readonly (Listed | "user")[];
  /** `person:<id>`, from the address. */
  chosen: string | undefined;
}

/** Whom something is about: somebody of a list, somebody who was deleted, or an end user. */
export function SubjectField({ kinds, chosen = "" }: Props) {
  const [before, id] = [chosen.split(":")[0], chosen.slice(chosen.indexOf(":") + 1)];
  const [kind, setKind] = useState(kinds.find((one) => one === before) ?? kinds[0]!);
  const listed = useListed();
  const choices = kind === "user" ? [] : listed[kind];
  const isListed = choices.some(({ value }) => value === id);
  const [picked, setPicked] = useState<string>();
  const current = picked ?? (isListed ? id : id && kind === before ? DELETED : (choices[0]?.value ?? DELETED));
  return (
    <div className="side-by-side">
      <label>
        About
        <select
          name="kind"
          value={kind}
          onChange={({ target }) => {
            setKind(kinds.find((one) => one === target.value) ?? kind);
            setPicked(undefined);
          }}
        >
          <Options choices={kinds.map((one) => ({ value: one, label: LABELS[one] }))} />
        </select>
      </label>
      {kind !== "user" && (
        <label>
          Which one
          <select name="chosen" value={current} onChange={({ target }) => setPicked(target.value)}>
            <Options choices={choices} />
            <option value={DELETED}>one that was deleted</option>
          </select>
        </label>
      )}
      {(kind === "user" || current === DELETED) && (
        <label>
          {kind === "user" ? "As requests name it in “user”" : "Its id"}
          {kind !== "user" && !id && (
            <span className="quiet">
              Filter the <Link to="/requests">requests</Link> by who asked: the list leads back here.
            </span>
          )}
          <input
            name="value"
            maxLength={512}
            autoComplete="off"
            spellCheck={false}
            defaultValue={kind === before ? id : ""}
          />
        </label>
      )}
    </div>
  );
}
