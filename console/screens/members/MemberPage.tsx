import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { listFormerMembers } from "../../api/formerMembers.ts";
import { changeMember, getMember, removeMember, resetPassword, ROLES, type Member } from "../../api/members.ts";
import { getSession } from "../../api/queries.ts";
import { useRole } from "../../api/useRole.ts";
import { readChoice } from "../../app/search.ts";
import { Dates } from "../../parts/Dates.tsx";
import { Form } from "../../parts/Form.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { formText } from "../../parts/formText.ts";
import { Status } from "../../parts/Status.tsx";
import { ThingActions } from "../../parts/ThingActions.tsx";
import { ThingScreen } from "../../parts/ThingScreen.tsx";
import { useChangeForm } from "../../parts/useChangeForm.ts";
import { useLeaveAfter } from "../../parts/useLocationKey.ts";
import { MemberPassword } from "./MemberPassword.tsx";
import { FormerMemberFacts } from "./FormerMemberFacts.tsx";
import { ROLE_DESCRIPTIONS, RoleFields } from "./roles.tsx";
import { ActivityLinks } from "./ActivityLinks.tsx";
import { stateOf } from "./search.ts";

const route = getRouteApi("/members/$memberId");

function Facts({ member }: { member: Member }) {
  const { id, email, role, created_at, updated_at } = member;
  return (
    <dl className="facts">
      <dt>E-mail</dt>
      <dd>{email}</dd>
      <dt>Role</dt>
      <dd>
        {role} <span className="quiet">({ROLE_DESCRIPTIONS[role]})</span>
      </dd>
      <Dates id={id} created={created_at} changed={updated_at} began="Joined" />
      <ActivityLinks id={id} />
    </dl>
  );
}

function Actions({ member: { id, name, active } }: { member: Member }) {
  const leaveAfter = useLeaveAfter();
  const [password, setPassword] = useState<string>();
  const actions = [
    {
      label: active ? "Lock out" : "Let in again",
      question: active ? `Lock out ${name}? All sessions end, and ${name} cannot sign in.` : undefined,
      run: () => changeMember(id, { active: !active }),
    },
    {
      label: "New password",
      question: `Give ${name} a new password? The current one and all sessions end.`,
      isDangerous: true,
      run: async () => setPassword((await resetPassword(id)).password),
    },
    {
      label: "Remove",
      question: `Remove ${name}? All sessions end at once, and the name is deleted for good. What ${name} made and said stays, until it is erased under Privacy.`,
      isDangerous: true,
      run: () => leaveAfter(() => removeMember(id), { to: "/members", ignoreBlocker: true }),
    },
  ];
  return (
    <>
      <ThingActions actions={actions} kind="organization" />
      {password && <MemberPassword title={`The new password of ${name}`} password={password} />}
    </>
  );
}

/** People cannot lock out or remove themselves, because they could not undo it. */
const Self = () => (
  <p>
    This is you. Change your password under <Link to="/settings">Settings</Link>.
  </p>
);

function Settings({ member, isOwner }: { member: Member; isOwner: boolean }) {
  const { before, save } = useChangeForm<Pick<Member, "name" | "role">, Member>(member, {
    read: (form, { role }) => ({ name: formText(form, "name"), role: readChoice(form.get("role"), ROLES) ?? role }),
    change: (changes) => changeMember(member.id, changes),
    // a person's own name and role are part of the session
    queryKeys: [["organization"], getSession.queryKey],
  });
  return (
    <section aria-labelledby="settings" className="stack">
      <h2 id="settings">Settings</h2>
      <Form submit="Save" done="Saved." send={save}>
        <FormField label="Name">
          <input name="name" required maxLength={200} defaultValue={before.name} autoComplete="off" />
        </FormField>
        <RoleFields chosen={before.role} isOwner={isOwner} />
      </Form>
    </section>
  );
}

function Details({ member }: { member: Member }) {
  const { isAdmin, isOwner } = useRole();
  const session = useQuery(getSession);
  const mayChange = isOwner || (isAdmin && member.role !== "owner");
  return (
    <>
      <header className="title-line">
        <h1>{member.name}</h1>
        <Status status={stateOf(member)} />
      </header>
      {mayChange && (session.data?.user.id === member.id ? <Self /> : <Actions member={member} />)}
      <Facts member={member} />
      {mayChange ? (
        <Settings member={member} isOwner={isOwner} />
      ) : (
        <p className="quiet">{isAdmin ? "Only an owner changes an owner." : "Administrators change members."}</p>
      )}
    </>
  );
}

/** One person: the role, and the actions that end the access. For a removed person, the remaining data. */
export function MemberPage() {
  const { memberId } = route.useParams();
  const { isAdmin } = useRole();
  const member = useQuery(getMember(memberId));
  const former = useQuery({ ...listFormerMembers, enabled: isAdmin && member.isError });
  const left = member.isError ? former.data?.find(({ id }) => id === memberId) : undefined;
  const back = <Link to="/members">← Members</Link>;
  if (left)
    return (
      <section className="screen narrow">
        <p>{back}</p>
        <FormerMemberFacts member={left} />
      </section>
    );
  return (
    <ThingScreen back={back} query={member} kind="Member" narrow>
      {(data) => <Details key={data.id} member={data} />}
    </ThingScreen>
  );
}
