import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { whoAmI } from "../../api/queries.ts";
import { changePassword } from "../../api/settings.ts";
import { Form } from "../../parts/Form.tsx";
import { formText } from "../../parts/formText.ts";

function Password({ email }: { email: string }) {
  const send = useMutation({
    mutationFn: async (form: FormData) => {
      const [current_password, new_password] = [formText(form, "current_password"), formText(form, "new_password")];
      if (new_password !== formText(form, "again")) throw new Error("The new password and its repetition differ.");
      return changePassword({ current_password, new_password });
    },
  });
  return (
    <section aria-labelledby="password" className="stack">
      <h2 id="password">Password</h2>
      <Form submit="Change password" done="Changed. Your other sessions have ended." send={send}>
        {/* so that password managers know whose it is */}
        <input hidden name="email" value={email} autoComplete="username" readOnly />
        <label>
          Present password
          <input name="current_password" type="password" autoComplete="current-password" required />
        </label>
        <label>
          <span>New password</span>
          <span className="quiet">At least 12 characters.</span>
          <input name="new_password" type="password" autoComplete="new-password" minLength={12} required />
        </label>
        <label>
          The new password again
          <input name="again" type="password" autoComplete="new-password" minLength={12} required />
        </label>
      </Form>
    </section>
  );
}

/** The organization, and the person who is signed in. */
export function You() {
  const { data } = useQuery(whoAmI);
  if (!data) return null;
  const { user, organization } = data;
  return (
    <>
      <dl className="facts">
        <dt>Organization</dt>
        <dd>
          {organization.name} <span className="mono quiet">{organization.id}</span>
        </dd>
        <dt>You</dt>
        <dd>
          <Link to="/members/$memberId" params={{ memberId: user.id }}>
            {user.name || user.email}
          </Link>
        </dd>
        <dt>E-mail</dt>
        <dd>{user.email}</dd>
        <dt>Role</dt>
        <dd>{user.role}</dd>
      </dl>
      <Password email={user.email} />
    </>
  );
}
