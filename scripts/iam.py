"""Runs the doctor for users that have the policy of docs/memory.md, whole and with one action missing at a time."""

import json, os, pathlib, re, subprocess, sys, urllib.request

import boto3

endpoint, binary = sys.argv[1:]
BUCKET = "memories"
# What the doctor must complain of when an action is missing, and how badly.
LOSSES = {
    None: {},
    "s3:ListBucket": {"s3 list": "bad"},
    "s3:GetObject": {"s3 read": "bad"},
    "s3:PutObject": {"s3 write": "bad", "s3 parts": "bad"},
    "s3:DeleteObject": {"s3 delete": "doubtful"},
}


def client(service, key="root", secret="root-secret"):
    keys = dict(aws_access_key_id=key, aws_secret_access_key=secret, region_name="us-east-1")
    return boto3.client(service, endpoint_url=endpoint, **keys)


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
    """Makes a user with the policy, who keeps its keys."""
    iam, name = client("iam"), f"fro-bot-{number}"
    iam.create_user(UserName=name)
    iam.put_user_policy(UserName=name, PolicyName="memory", PolicyDocument=json.dumps(policy(without)))
    return iam.create_access_key(UserName=name)["AccessKey"]


def enforce(enforced):
    """Has the server check policies from the next request on, or from none."""
    count = b"0" if enforced else b"9999"
    request = urllib.request.Request(f"{endpoint}/moto-api/reset-auth", data=count, headers={"content-type": "text/plain"})
    urllib.request.urlopen(request).read()


def examined(key):
    """Returns what the doctor finds about the bucket, as name and health."""
    inputs = {
        "GITHUB-TOKEN": "none", "S3-BACKUP": "true", "S3-BUCKET": BUCKET, "AWS-REGION": "us-east-1",
        "S3-ENDPOINT": endpoint, "S3-ALLOW-INSECURE-ENDPOINT": "true",
    }
    environment = {f"INPUT_{name}": value for name, value in inputs.items()} | {
        "PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "GITHUB_REPOSITORY": "octo/garden",
        "RUNNER_TOOL_CACHE": str(pathlib.Path(binary).parent.parent / "tools"),
        "GITHUB_API_URL": "http://127.0.0.1:9", "GITHUB_GRAPHQL_URL": "http://127.0.0.1:9/graphql",
        "FRO_RETRY_DELAYS": "1", "AWS_ACCESS_KEY_ID": key["AccessKeyId"],
        "AWS_SECRET_ACCESS_KEY": key["SecretAccessKey"],
    }
    said = subprocess.run([binary, "doctor", "--json"], env=environment, capture_output=True, text=True)
    findings = json.loads(said.stdout)
    return [finding for finding in findings if finding["about"].startswith("s3 ")]


client("s3").create_bucket(Bucket=BUCKET)
users = {without: user(number, without) for number, without in enumerate(LOSSES)}
enforce(True)
failed = 0
for without, expected in LOSSES.items():
    findings = examined(users[without])
    found = {finding["about"]: finding["health"] for finding in findings if finding["health"] != "good"}
    named = all(str(without) in (finding["next"] or "") for finding in findings if finding["about"] in found)
    ok = found == expected and named and len(findings) >= 5
    failed += not ok
    print("ok " if ok else "BAD", f"without {without or 'nothing'}: {found or 'content'}")
    if not ok:
        print(json.dumps(findings, indent=2))
sys.exit(failed > 0)
