import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { addMember, ROLES, type MemberWithPassword } from "../../api/members.ts";
import { useRole } from "../../api/useRole.ts";
import { readChoice } from "../../app/search.ts";
import { Form } from "../../parts/Form.tsx";
import { FormField } from "../../parts/FormField.tsx";
import { formText } from "../../parts/formText.ts";
import { NextSteps } from "../../parts/NextSteps.tsx";
import { ForAdministrators } from "../../parts/ForRole.tsx";
import { MemberPassword } from "./MemberPassword.tsx";
import { RoleFields } from "./roles.tsx";

const Added = ({ added, onNext }: { added: MemberWithPassword; onNext: () => void }) => (
  <>
    <MemberPassword title={`The first password of ${added.name}`} password={added.password} />
    <NextSteps
      see={
        <Link to="/members/$memberId" params={{ memberId: added.id }}>
          See the member
        </Link>
      }
      another="Add another"
      onNext={onNext}
    />
  </>
);

function Add({ isOwner }: { isOwner: boolean }) {
  const queries = useQueryClient();
  const add = useMutation({
    mutationFn: async (form: FormData) =>
      addMember({
        name: formText(form, "name"),
        email: formText(form, "email"),
        role: readChoice(form.get("role"), ROLES) ?? "viewer",
      }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["organization"] }),
  });
  if (add.data) return <Added added={add.data} onNext={() => add.reset()} />;
  return (
    <Form submit="Add member" send={add}>
      <FormField label="Name">
        <input name="name" required maxLength={200} autoComplete="off" />
      </FormField>
      <FormField label="E-mail">
        <input name="email" type="email" required maxLength={320} autoComplete="off" />
      </FormField>
      <RoleFields chosen="viewer" isOwner={isOwner} />
      <p className="quiet">
        A role counts in the whole organization. Somebody who should reach one project only gets{" "}
        <Link to="/keys/new">a key of that project</Link> instead.
      </p>
    </Form>
  );
}

/** The form for a new member. The service sends no e-mail, so the initial password is shown here once. */
export function NewMember() {
  const { isOwner } = useRole();
  return (
    <ForAdministrators what="New members">
      <section className="screen narrow" aria-labelledby="title">
        <p>
          <Link to="/members">← Members</Link>
        </p>
        <h1 id="title">New member</h1>
        <Add isOwner={isOwner} />
      </section>
    </ForAdministrators>
  );
}
