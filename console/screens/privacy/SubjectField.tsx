import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { listAllKeys } from "../../api/keys.ts";
import { listAllMembers } from "../../api/members.ts";
import { listAgents } from "../../api/nameLists.ts";
import { listProjects } from "../../api/settings.ts";
import { FieldError } from "../../format/FieldError.ts";
import { formText } from "../../parts/formText.ts";
import { FormField } from "../../parts/FormField.tsx";
import { useFormerNames } from "../../parts/useFormerNames.ts";
import { listedChoices, namedChoices, Options, type Choice } from "../../parts/Choices.tsx";

/** Kinds whose subjects are listed. */
type ListedKind = "person" | "key" | "agent" | "project";
type Kind = ListedKind | "user" | "organization" | "thread" | "file" | "document" | "run";

/** Kinds that a hold may cover. */
export const HELD_KINDS = [
  "person",
  "key",
  "agent",
  "user",
  "project",
  "organization",
  "thread",
  "file",
  "document",
  "run",
] as const satisfies Kind[];

const LABELS: Record<Kind, string> = {
  person: "a person",
  key: "an API key",
  agent: "an agent",
  user: "an end user of API keys",
  project: "a project",
  organization: "the whole organization",
  thread: "one conversation",
  file: "one file",
  document: "one document",
  run: "one run",
};
const DELETED = "deleted";

/** All subjects of each kind, including people who left. */
function useListed(): Record<ListedKind, Choice[]> {
  const people = useQuery(listAllMembers);
  const former = useFormerNames();
  const keys = useQuery(listAllKeys);
  const agents = useQuery(listAgents);
  const projects = useQuery(listProjects);
  return {
    person: [
      ...listedChoices(people.data, "members", ({ id, name, email }) => ({ value: id, label: `${name} (${email})` })),
      ...[...former].map(([value, label]) => ({ value, label })),
    ],
    key: namedChoices(keys.data, "keys"),
    agent: namedChoices(agents.data, "agents"),
    project: namedChoices(projects.data, "projects"),
  };
}

/** The name of a subject; its kind and id if the name is unknown. */
export function useSubjectName(): (subject: string) => string {
  const listed = useListed();
  return (subject) => {
    const [kind = "", id = ""] = subject.split(":", 2);
    if (kind === "user") return "an end user";
    if (kind === "organization") return LABELS[kind];
    return listed[kind as ListedKind]?.find(({ value }) => value === id)?.label ?? subject.replace(":", " ");
  };
}

/** Throws a FieldError if no subject was selected. */
export function readSubject(form: FormData): string {
  const kind = formText(form, "kind");
  if (kind === "organization") return kind;
  const chosen = formText(form, "chosen");
  const value = chosen && chosen !== DELETED ? chosen : formText(form, "value").trim();
  if (!value) throw new FieldError("value", kind === "user" ? "Say whom it is about." : "Say which one it is about.");
  return `${kind}:${value}`;
}

/** Where to find an id. */
const IdHint = ({ kind }: { kind: Kind }) =>
  kind === "document" ? (
    <span className="quiet">
      The end of its address in <Link to="/knowledge">Knowledge</Link>.
    </span>
  ) : kind === "run" ? (
    <span className="quiet">
      On its page, from the <Link to="/runs">runs</Link>.
    </span>
  ) : kind === "thread" || kind === "file" ? (
    <span className="quiet">
      On the page of one of its <Link to="/requests">requests</Link>.
    </span>
  ) : (
    <span className="quiet">
      Filter the <Link to="/requests">requests</Link> by who asked: the list leads back here.
    </span>
  );

interface Props {
  kinds: readonly Kind[];
  /** `person:<id>`, from the address. */
  chosen: string | undefined;
}

/** Selects a subject: one from a list, a deleted one, an item by its id, or an end user. */
export function SubjectField({ kinds, chosen = "" }: Props) {
  const [before, id] = [chosen.split(":")[0], chosen.slice(chosen.indexOf(":") + 1)];
  const [kind, setKind] = useState(kinds.find((one) => one === before) ?? kinds[0]!);
  const listed = useListed();
  const choices = kind in listed ? listed[kind as ListedKind] : undefined;
  const isListed = choices?.some(({ value }) => value === id);
  const [picked, setPicked] = useState<string>();
  // no subject is preselected, because the next step may erase
  const current = picked ?? (isListed ? id : id && kind === before ? DELETED : "");
  const isTyped = choices ? current === DELETED : kind !== "organization";
  return (
    <div className="side-by-side" data-params="subject owner">
      <FormField label="About">
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
      </FormField>
      {choices && (
        <FormField label="Which one">
          <select name="chosen" required value={current} onChange={({ target }) => setPicked(target.value)}>
            <option value="" disabled>
              Choose one
            </option>
            <Options choices={choices} />
            <option value={DELETED}>
              {choices.some(({ isNote }) => isNote) ? "one that is not listed" : "one that was deleted"}
            </option>
          </select>
        </FormField>
      )}
      {isTyped && (
        <label>
          {kind === "user" ? "As requests name it in “user”" : "Its id"}
          {kind !== "user" && !id && <IdHint kind={kind} />}
          <input
            key={kind}
            name="value"
            maxLength={7_995}
            autoComplete="off"
            spellCheck={false}
            defaultValue={kind === before ? id : ""}
          />
        </label>
      )}
    </div>
  );
}
