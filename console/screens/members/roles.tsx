import { ROLES } from "../../api/members.ts";
import type { Role } from "../../api/types.ts";

/** The permissions of each role (docs/permissions.md). */
export const ROLE_DESCRIPTIONS: Record<Role, string> = {
  owner: "everything, and who else is an owner",
  admin: "keys, people, providers, usage and the log",
  builder: "agents, workflows, scripts and their secrets",
  approver: "decides approvals, asks agents and models, adds documents",
  viewer: "reads, and changes nothing",
};

/** Only an owner can assign the role owner. */
export const RoleFields = ({ chosen, isOwner }: { chosen: Role; isOwner: boolean }) => (
  <fieldset>
    <legend>Role</legend>
    {ROLES.filter((role) => isOwner || role !== "owner").map((role) => (
      <label key={role} className="check">
        <input type="radio" name="role" value={role} defaultChecked={role === chosen} required /> {role}{" "}
        <span className="quiet">{ROLE_DESCRIPTIONS[role]}</span>
      </label>
    ))}
  </fieldset>
);
