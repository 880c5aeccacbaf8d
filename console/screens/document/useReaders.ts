import { useQuery } from "@tanstack/react-query";
import { listGroups } from "../../api/groups.ts";
import type { Reader } from "../../api/knowledge.ts";
import { listAllMembers, ROLES } from "../../api/members.ts";
import { listedChoices, type Choice } from "../../parts/Choices.tsx";

interface ReaderGroup {
  label: string;
  choices: Choice[];
}

/** The possible readers, by kind. */
export function useReaders(): ReaderGroup[] {
  const people = useQuery(listAllMembers);
  const groups = useQuery(listGroups);
  return [
    { label: "Roles", choices: ROLES.map((role) => ({ value: `role:${role}`, label: `every ${role}` })) },
    {
      label: "Groups",
      choices: listedChoices(groups.data, "groups", ({ group }) => ({
        value: `group:${group}`,
        label: `group ${group}`,
      })),
    },
    {
      label: "People",
      choices: listedChoices(people.data, "members", ({ id, name, email }) => ({
        value: `person:${id}`,
        label: name ? `${name} (${email})` : email,
      })),
    },
  ];
}

/** A reader as one string: `person:<id>`. */
export const writeReader = (reader: Reader): string => Object.entries(reader)[0]!.join(":");

export function parseReader(text: string): Reader {
  const at = text.indexOf(":");
  return { [text.slice(0, at)]: text.slice(at + 1) } as Reader;
}

/** The name of a reader; its kind and id if the name is unknown. */
export function nameOfReader(groups: readonly ReaderGroup[], reader: Reader): string {
  if ("external_user" in reader) return `end user ${reader.external_user}`;
  const written = writeReader(reader);
  return groups.flatMap(({ choices }) => choices).find(({ value }) => value === written)?.label ?? written;
}
