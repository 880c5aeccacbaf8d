import { useQuery } from "@tanstack/react-query";
import { listAllMembers } from "../../api/members.ts";
import { getSession } from "../../api/queries.ts";
import { listedChoices, Options } from "../../parts/Choices.tsx";
import { FormField } from "../../parts/FormField.tsx";

/** The other members who may decide approvals. */
export function PersonField({ name, label }: { name: string; label: string }) {
  const { data: me } = useQuery(getSession);
  const { data: members } = useQuery(listAllMembers);
  const others = members && {
    ...members,
    data: members.data.filter(({ id, active, role }) => active && role !== "viewer" && id !== me?.user.id),
  };
  return (
    <FormField label={label}>
      <select name={name} required defaultValue="">
        <option value="" disabled>
          Choose a person
        </option>
        <Options
          choices={listedChoices(others, "members", ({ id, name, role }) => ({ value: id, label: `${name}, ${role}` }))}
        />
      </select>
    </FormField>
  );
}
