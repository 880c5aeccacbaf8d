import { describeFormerMember, type FormerMember } from "../../format/formerMember.ts";
import { PrincipalLink } from "../../parts/ActorLink.tsx";
import { Time } from "../../parts/Time.tsx";
import { ActivityLinks } from "./ActivityLinks.tsx";

/** A removed person: the data left in the log, and a link to erase their messages. */
export const FormerMemberFacts = ({ member }: { member: FormerMember }) => (
  <>
    <h1>{describeFormerMember(member).replace(/^f/, "F")}</h1>
    <p className="quiet">The name and the address were deleted for good when this person was removed.</p>
    <dl className="facts">
      <dt>Last role</dt>
      <dd>{member.role}</dd>
      <dt>Joined</dt>
      <dd>
        <Time at={member.joined_at} />
      </dd>
      <dt>Left</dt>
      <dd>
        <Time at={member.removed_at} />, removed by <PrincipalLink principal={member.removed_by} />
      </dd>
      <dt>Id</dt>
      <dd className="mono">{member.id}</dd>
      <ActivityLinks id={member.id} />
    </dl>
  </>
);
