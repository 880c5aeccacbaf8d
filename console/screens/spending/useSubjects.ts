import { useQuery } from "@tanstack/react-query";
import { splitBudgetKey } from "../../api/spending.ts";
import { listAllKeys } from "../../api/keys.ts";
import { listAllMembers } from "../../api/members.ts";
import { listAgents } from "../../api/nameLists.ts";
import type { Listing } from "../../api/readAll.ts";
import { listProjects } from "../../api/settings.ts";
import { listedChoices, type Choice } from "../../parts/Choices.tsx";

interface Group {
  label: string;
  /** As the API names them: `key:<id>`. */
  subjects: Choice[];
}

/** The group of a kind, as subjects name it. */
const groupOf = (label: string, kind: string, things: Listing<{ id: string; name: string }> | undefined): Group => ({
  label,
  subjects: listedChoices(things, label.toLowerCase(), ({ id, name }) => ({ value: `${kind}:${id}`, label: name })),
});

/** The possible subjects of a budget, by kind. */
export function useSubjects(): Group[] {
  const projects = useQuery(listProjects);
  const keys = useQuery(listAllKeys);
  const people = useQuery(listAllMembers);
  const agents = useQuery(listAgents);
  return [
    {
      label: "Everybody",
      subjects: [
        { value: "organization", label: "The organization" },
        { value: "each-user", label: "Each end user by itself" },
      ],
    },
    groupOf("Projects", "project", projects.data),
    groupOf("Keys", "key", keys.data),
    groupOf("People", "person", people.data),
    groupOf("Agents", "agent", agents.data),
  ];
}

/** The name of a subject; its kind and id if the name is unknown. The value behind an end user's mark is always unknown. */
export const nameOf = (groups: readonly Group[], subject: string): string =>
  groups.flatMap(({ subjects }) => subjects).find(({ value }) => value === subject)?.label ??
  subject.replace(/^user:([\w-]{8})[\w-]{35}$/, "End user $1…");

/** Includes the model of the budget. */
export function nameOfBudget(groups: readonly Group[], key: string): string {
  const { subject, model } = splitBudgetKey(key);
  return model === null ? nameOf(groups, subject) : `${nameOf(groups, subject)} for ${model}`;
}
