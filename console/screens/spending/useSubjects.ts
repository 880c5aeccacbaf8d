import { useQuery } from "@tanstack/react-query";
import { splitBudgetKey } from "../../api/spending.ts";
import { listKeys } from "../../api/keys.ts";
import { listMembers } from "../../api/members.ts";
import { listAgents } from "../../api/requests.ts";
import { listProjects } from "../../api/settings.ts";

interface Subject {
  /** As the API names it: `key:<id>`. */
  value: string;
  name: string;
}

interface Group {
  label: string;
  subjects: Subject[];
}

const subjectsOf = (kind: string, things: readonly { id: string; name: string }[] = []): Subject[] =>
  things.map(({ id, name }) => ({ value: `${kind}:${id}`, name }));

/** Who may have a budget, by kind; of each kind the first 500. */
export function useSubjects(): Group[] {
  const projects = useQuery(listProjects);
  const keys = useQuery(listKeys());
  const people = useQuery(listMembers());
  const agents = useQuery(listAgents);
  return [
    {
      label: "Everybody",
      subjects: [
        { value: "organization", name: "The organization" },
        { value: "each-user", name: "Each end user by itself" },
      ],
    },
    { label: "Projects", subjects: subjectsOf("project", projects.data?.data) },
    { label: "Keys", subjects: subjectsOf("key", keys.data?.data) },
    { label: "People", subjects: subjectsOf("person", people.data?.data) },
    { label: "Agents", subjects: subjectsOf("agent", agents.data?.data) },
  ];
}

/** The name of a subject; its kind and id where it is not known. Nobody knows the value behind the mark of an end user. */
export const nameOf = (groups: readonly Group[], subject: string): string =>
  groups.flatMap(({ subjects }) => subjects).find(({ value }) => value === subject)?.name ??
  subject.replace(/^user:([\w-]{8})[\w-]{35}$/, "End user $1…");

/** With the model that a budget is about. */
export function nameOfBudget(groups: readonly Group[], key: string): string {
  const { subject, model } = splitBudgetKey(key);
  return model === null ? nameOf(groups, subject) : `${nameOf(groups, subject)} for ${model}`;
}
