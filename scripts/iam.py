"""Runs the doctor for users and roles that have the policy of docs/memory.md, whole and with one action missing at a time."""

import json, os, pathlib, re, ssl, subprocess, sys, tempfile, urllib.request

import boto3

endpoint, authority, binary = sys.argv[1:]
BUCKET = "memories"
# What the doctor must complain of when an action is missing, and how badly.
LOSSES = {
    None: {},
    "s3:ListBucket": {"s3 list": "bad"},
    "s3:GetObject": {"s3 read": "bad"},
    "s3:PutObject": {"s3 write": "bad", "s3 parts": "bad"},
    "s3:DeleteObject": {"s3 delete": "look"},
}


def client(service, key="root", secret="root-secret"):
    keys = dict(aws_access_key_id=key, aws_secret_access_key=secret, region_name="us-east-1")
    return boto3.client(service, endpoint_url=endpoint, verify=authority, **keys)


def policy(without):
    page = pathlib.Path("docs/memory.md").read_text()
    text = re.search(r"```json\n(.*?)```", page, re.S).group(1).replace("YOUR-BUCKET", BUCKET)
    whole = json.loads(text)
    for statement in whole["Statement"]:
        actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
        statement["Action"] = [action for action in actions if action != without]
    whole["Statement"] = [statement for statement in whole["Statement"] if statement["Action"]]
    # Objects are deleted in bulk. AWS asks for the right on each of them, moto on the bucket.
    if without != "s3:DeleteObject":
        on_bucket = {"Effect": "Allow", "Action": "s3:DeleteObject", "Resource": f"arn:aws:s3:::{BUCKET}"}
        whole["Statement"].append(on_bucket)
    return whole


def user(number, without):
    """Makes a user with the policy, and returns the variables with its keys."""
    iam, name = client("iam"), f"fro-bot-{number}"
    iam.create_user(UserName=name)
    iam.put_user_policy(UserName=name, PolicyName="memory", PolicyDocument=json.dumps(policy(without)))
    key = iam.create_access_key(UserName=name)["AccessKey"]
    return {"AWS_ACCESS_KEY_ID": key["AccessKeyId"], "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"]}


def role(number, without):
    """Makes a role with the policy, and returns the variables of whoever may take it on."""
    iam, name = client("iam"), f"fro-bot-{number}"
    made = iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps({"Version": "2012-10-17", "Statement": []}))
    iam.put_role_policy(RoleName=name, PolicyName="memory", PolicyDocument=json.dumps(policy(without)))
    return {"AWS_ROLE_ARN": made["Role"]["Arn"], "AWS_WEB_IDENTITY_TOKEN_FILE": token.name, "AWS_ENDPOINT_URL_STS": endpoint}


def enforce(unsigned):
    """Has the server check policies, but for the next so many requests."""
    headers = {"content-type": "text/plain"}
    request = urllib.request.Request(f"{endpoint}/moto-api/reset-auth", data=str(unsigned).encode(), headers=headers)
    urllib.request.urlopen(request, context=ssl.create_default_context(cafile=authority)).read()


def examined(identity):
    """Returns what the doctor finds about the bucket, as name and health."""
    inputs = {
        "GITHUB-TOKEN": "none", "S3-BACKUP": "true", "S3-BUCKET": BUCKET, "AWS-REGION": "us-east-1",
        "S3-ENDPOINT": endpoint,
    }
    environment = {f"INPUT_{name}": value for name, value in inputs.items()} | {
        "PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "GITHUB_REPOSITORY": "octo/garden",
        "RUNNER_TOOL_CACHE": str(pathlib.Path(binary).parent.parent / "tools"),
        "GITHUB_API_URL": "http://127.0.0.1:9", "GITHUB_GRAPHQL_URL": "http://127.0.0.1:9/graphql",
        "FRO_RETRY_DELAYS": "1", "SSL_CERT_FILE": authority,
    } | identity
    said = subprocess.run([binary, "doctor", "--json"], env=environment, capture_output=True, text=True)
    findings = json.loads(said.stdout)
    return [finding for finding in findings if finding["about"].startswith("s3 ")]


client("s3").create_bucket(Bucket=BUCKET)
token = tempfile.NamedTemporaryFile("w")
token.write("the-web-identity-of-a-workload")
token.flush()
# A web identity is the one thing that is asked for without a signature, first and once.
KINDS = {"a user": (user, 0), "a role": (role, 1)}
makers = {(kind, without): make for kind, (make, _) in KINDS.items() for without in LOSSES}
identities = {who: make(number, who[1]) for number, (who, make) in enumerate(makers.items())}
failed = 0
for (kind, without), identity in identities.items():
    enforce(KINDS[kind][1])
    findings = examined(identity)
    found = {finding["about"]: finding["health"] for finding in findings if finding["health"] != "ok"}
    named = all(str(without) in (finding["next"] or "") for finding in findings if finding["about"] in found)
    ok = found == LOSSES[without] and named and len(findings) >= 5
    failed += not ok
    print("ok " if ok else "BAD", f"{kind} without {without or 'nothing'}: {found or 'content'}")
    if not ok:
        print(json.dumps(findings, indent=2))
sys.exit(failed > 0)
