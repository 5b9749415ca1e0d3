# A remote stage of gw2api: REMOTE_SECRET=whsec_... PORT=9400 python3 remote.py
# It denies requests with one of `context: { words: [...] }`, and hides e-mail addresses in answers.
import base64, hmac, json, os, re, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
SECRET = os.environ.get("REMOTE_SECRET", "")
KEY = base64.b64decode(SECRET[6:] + "==") if SECRET.startswith("whsec_") else SECRET.encode()
if not KEY: raise SystemExit("REMOTE_SECRET is missing: the secret of the stage.")
SEEN, LOCK = {}, threading.Lock()  # signatures of ten minutes: no question is answered twice
def is_authentic(headers, body):
    id, at, given = [headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature")]
    right = b"v1," + base64.b64encode(hmac.digest(KEY, f"{id}.{at}.".encode() + body, "sha256"))
    now, signed = time.time(), any([hmac.compare_digest(right, one.encode()) for one in given.split()])
    if not signed or not re.fullmatch("[0-9]{1,12}", at) or abs(now - int(at)) > 300: return False
    with LOCK:
        for old in [old for old, _ in zip(SEEN, "ab") if SEEN[old] < now - 600]: del SEEN[old]
        return SEEN.setdefault(right, now) is now
hide = lambda text: re.sub(r"(?<![\w.+-])[\w.+-]+@[\w-]+(\.[\w-]+)+", "[e-mail]", text)
def request(question):
    text = json.dumps(question.get("request", {}).get("messages"), ensure_ascii=False).lower()
    word = next((word for word in question["context"].get("words", []) if word.lower() in text), None)
    return {"verdict": "deny", "message": f'"{word}" is not allowed.'} if word else {"verdict": "allow"}
def answer(question):
    content = question["answer"]["content"]
    for block in content: block.update({"text": hide(block["text"])} if block["type"] == "text" else {})
    return {"verdict": "change", "content": content}
def events(question):
    texts, deltas = {}, [e for e in question["events"] if e.get("delta", {}).get("type") == "text_delta"]
    for event in deltas: texts[event["index"]] = texts.get(event["index"], "") + event["delta"]["text"]
    end = texts.get((question["events"] or [{}])[-1].get("index"), "")[-321:]  # may begin an address
    if not question["last"] and re.search(r"(^|[^\w.+@-])[\w.+@-]{1,320}$", end): return {"verdict": "hold"}
    if all(hide(text) == text for text in texts.values()): return {"verdict": "allow"}
    for event in deltas: event["delta"]["text"] = hide(texts.pop(event["index"], ""))
    return {"verdict": "change", "events": question["events"]}
PHASES = {(1, "request"): request, (1, "answer"): answer, (1, "events"): events}
review = lambda question: {"version": 1, **PHASES[question["version"], question["phase"]](question)}
class Handler(BaseHTTPRequestHandler):
    protocol_version, timeout, disable_nagle_algorithm = "HTTP/1.1", 75, True
    log_message = lambda *_: None
    def do_POST(self):
        body = self.rfile.read(min(abs(int(self.headers.get("content-length", 0))), 64_000_000))
        try: code, reply = (200, review(json.loads(body))) if is_authentic(self.headers, body) else (401, {})
        except Exception as error: code, reply = 400, {"error": repr(error)}
        data = json.dumps(reply).encode()
        self.send_response(code)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
ThreadingHTTPServer.request_queue_size = 1024
ThreadingHTTPServer.handle_error = lambda *_: None  # a caller that has left
ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9400"))), Handler).serve_forever()
