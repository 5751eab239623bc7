#!/bin/sh
# A Duetime worker; needs curl, jq and timeout: sh worker.sh http://127.0.0.1:8080 batch text.words wc -w
# It runs `wc -w` for each task of text.words: the payload is its input; it prints the result, as JSON.
url=$1 pool=$2 handler=$3 worker=shell-$$ ending= && shift 3 && dir=$(mktemp -d) || exit 2
trap 'rm -r "$dir"' EXIT && trap 'exit 130' INT && trap 'ending=1' TERM  # TERM: after this task
post() {  # post CALL SECONDS: sends the file CALL; prints the answer, and its status in the last line
  printf 'header = "authorization: Bearer %s"\n' "$DUETIME_TOKEN" | curl -s -m "$2" -K - -d "@$dir/$1" \
    -H 'content-type: application/json' -w '\n%{http_code}' "$url/v1/workers/$1"
}
call() {  # repeats until the runner answers; every call can be repeated
  while answer=$(post "$1" 40); status=${answer##*[!0-9]}; [ "$status" != 200 ]; do
    case $status in 000 | 429 | 5??) sleep 1 ;; *) printf '%s\n' "$answer" >&2; exit 2 ;; esac
  done
  printf '%s' "$answer" | jq objects >"$dir/answer"
}
renew() {  # stops the program $1 if it is cancelled, or its lease is lost or not renewed for 30 s
  missed=0 stop=lost
  while [ $missed -lt 3 ] && sleep 7; do
    case $(post renew 3 | jq -r 'objects.results[0] | "\(.status) \(.cancel_requested)"') in
      '200 false') missed=0 ;; '200 true') missed=3 stop=cancelled ;;
      409*) missed=3 ;; *) missed=$((missed + 1)) ;;
    esac
  done
  echo $stop >"$dir/stop" && kill "$1"
}
while [ -z "$ending" ]; do
  ulid=0$(LC_ALL=C tr -dc 0-9A-F </dev/urandom | head -c 25)
  jq -n --arg w $worker --arg p "$pool" --arg h "$handler" --arg r "$ulid" '{worker: $w, handlers: [$h],
    pool: (if $p == "" then null else $p end), wait: 20, request: $r}' >"$dir/lease"
  call lease && jq -e '.leases[0]' "$dir/answer" >"$dir/task" || continue
  jq --arg w $worker '{worker: $w, leases: [{id: .task.id, holder}]}' "$dir/task" >"$dir/renew"
  rm -f "$dir/stop" && : >"$dir/result" && seconds=$(jq '.task.timeout | ceil' "$dir/task")
  jq .task.payload "$dir/task" | timeout -k 5 "$seconds" "$@" >"$dir/printed" 2>"$dir/error" & program=$!
  renew $program & renewals=$!
  until wait $program; code=$?; ! kill -0 $program 2>/dev/null; do :; done  # SIGTERM ends a wait
  kill $renewals 2>/dev/null
  [ $code != 0 ] || jq -s first "$dir/printed" >"$dir/result" 2>>"$dir/error" || code=65
  case $(cat "$dir/stop" 2>/dev/null)$code in
    lost*) continue ;; cancelled*) outcome=cancelled ;; 124) outcome=timed_out ;;
    0) outcome=succeeded ;; *) outcome=failed ;;
  esac
  jq --arg o $outcome --arg c $code --rawfile error "$dir/error" --slurpfile result "$dir/result" '{worker,
    outcomes: [.leases[0] + {outcome: $o} + {succeeded: {result: $result[0]},
      failed: {error: {type: "Exit\($c)", message: $error[-1000:]}}}[$o]]}' "$dir/renew" >"$dir/outcome"
  while call outcome; [ "$(jq '.results[0].status' "$dir/answer")" = 503 ]; do sleep 1; done
done
