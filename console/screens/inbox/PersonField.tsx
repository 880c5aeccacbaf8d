import { useQuery } from "@tanstack/react-query";
import { listMembers } from "../../api/members.ts";
import { whoAmI } from "../../api/queries.ts";

/** The other members who may decide approvals. */
export function PersonField({ name, label }: { name: string; label: string }) {
  const { data: me } = useQuery(whoAmI);
  const { data: members } = useQuery(listMembers());
  const others = members?.data.filter(({ id, active, role }) => active && role !== "viewer" && id !== me?.user.id);
  return (
    <label>
      {label}
      <select name={name} required defaultValue="">
        <option value="" disabled>
          Choose a person
        </option>
        {others?.map((one) => (
          <option key={one.id} value={one.id}>
            {one.name}, {one.role}
          </option>
        ))}
      </select>
    </label>
  );
}
