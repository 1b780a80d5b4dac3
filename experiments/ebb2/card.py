#!/usr/bin/env python3
"""card.py BINARY SPEC [train|train2|held|held2|held3] [sections]: one line a section. Baselines are cached by setting (lt-main)."""
import subprocess,json,sys,math,os,glob,hashlib,tempfile
from concurrent.futures import ThreadPoolExecutor
H=os.path.dirname(os.path.abspath(__file__)); BASE=H+"/lt-main"; T=os.environ.get("LOWTIDE_TRACES","../shared/traces").rstrip("/")+"/"
CACHE=H+"/cache/"; os.makedirs(CACHE,exist_ok=True)
LT,CC=sys.argv[1],sys.argv[2]; CARD=sys.argv[3] if len(sys.argv)>3 else "train"
WANT=sys.argv[4].split(",") if len(sys.argv)>4 else None
BASES={"bbr","cubic","bbr3","newreno","cubic:hystart=false","copa","ebb"}
def toml(link,path,run,flows):
    o=[]
    for n,d in (("link",link),("path",path),("run",run)):
        o.append(f"[{n}]"); o+= [f"{k} = {json.dumps(v)}" for k,v in d.items()]
    for f in flows:
        o.append("[[flows]]"); o+=[f"{k} = {json.dumps(v)}" for k,v in f.items()]
    return "\n".join(o)+"\n"
def run(job):
    link,path,r,flows=job
    text=toml(link,path,r,flows)
    base=all(f["controller"] in BASES for f in flows)
    key=CACHE+hashlib.sha1(text.encode()).hexdigest()
    if base and os.path.exists(key): return json.load(open(key))
    f=tempfile.NamedTemporaryFile("w",suffix=".toml",delete=False); f.write(text); f.close()
    p=subprocess.run([BASE if base else LT,"run",f.name,"--json","--jobs","1"],capture_output=True,text=True)
    os.unlink(f.name)
    if p.returncode: print("ERR",text,p.stderr[-400:]); sys.exit(1)
    x=json.loads(p.stdout)["results"][0]
    x={"used":x["utilisation"],"thr":x["throughput_mbps"],"q95":x["queue_delay_ms"]["p95"],"jain":x["jain"],
       "flows":[dict(thr=v["throughput_mbps"],jain=v["jain"],frame=(v.get("frame_delay_ms") or {}).get("p95")) for v in x["flows"]]}
    if base: json.dump(x,open(key,"w"))
    return x
pool=ThreadPoolExecutor(2)
def runs(jobs): return list(pool.map(run,jobs))
M={}
QUIET=os.environ.get("QUIET")
_p=print
def print(*a,**k):
    if not QUIET: _p(*a,**k)
gm=lambda v: math.exp(sum(math.log(max(x,1e-9)) for x in v)/max(len(v),1))
med=lambda v: sorted(v)[len(v)//2]
def fl(c,n=1,stagger=0.0,**k): return [dict(controller=c,start=f"{round(i*stagger*1000)}ms",**k) for i in range(n)]
first12=sorted(glob.glob(T+"mahimahi/*")+glob.glob(T+"nyc/*")+glob.glob(T+"wigig/*"))
radio=sorted(glob.glob(T+"5g/*.csv")+glob.glob(T+"wifi/*.csv"))+[T+"starlink/leocc-a.down"]
def frontier(name,files,rtt,buf):
    js=[({"trace":f,"buffer":buf},{"rtt":rtt},{"duration":"60s"},fl(c)) for f in files for c in (CC,"bbr")]
    r=runs(js); th=[];q=[];w=[]
    for i,f in enumerate(files):
        a,b=r[2*i],r[2*i+1]; th.append(a["thr"]/b["thr"]); q.append(max(a["q95"],.05)/max(b["q95"],.05)); w.append((round(th[-1],2),os.path.basename(f)[:14]))
    w.sort(); M[name]=f"{gm(th):.3f}/{gm(q):.3f}/{w[0][0]}"
    print(f"{name:14} thr {gm(th):.3f} p95 {gm(q):.3f} worst {w[0][0]} {w[0][1]} {w[1][0]}",flush=True)
def coexist(rivals,cells):
    tot=[]
    for rv in rivals:
        js=[]
        for (rate,rtt,buf,off) in cells:
            a,b=(CC,rv) if off>0 else (rv,CC)
            js.append(({"rate":rate,"buffer":buf},{"rtt":rtt},{"duration":f"{60 if abs(off)<5 else 66}s","measure_from":f"{10 if off>0 else 10 if off>-5 else 6+0}s"},[dict(controller=a),dict(controller=b,start=f"{abs(off)}s")]))
        r=runs(js); s=[]
        for c,x in zip(cells,r):
            me=x["flows"][0 if c[3]>0 else 1]["thr"]; s.append((me/sum(v["thr"] for v in x["flows"]),c))
        v=sorted(x for x,_ in s); m=min(s); tot+=v
        M[rv[:4]+("-" if "=" in rv else "")]=f"{sum(.35<=x<=.65 for x in v)/len(v):.2f}/{sum(x>=.25 for x in v)/len(v):.2f}/{v[len(v)//2]:.2f}/{m[0]:.2f}/{v[-1]:.2f} x{sum(x<.1 for x in v)}+{sum(x>.9 for x in v)}"
        rot=sorted(s); print(f"   low "+" ".join(f"{x:.2f}@{chr(47).join(map(str,c))}" for x,c in rot[:6])+"  high "+" ".join(f"{x:.2f}@{chr(47).join(map(str,c))}" for x,c in rot[-4:])); print(f"beside {rv:20} 35-65 {sum(.35<=x<=.65 for x in v)/len(v):.2f} >=.25 {sum(x>=.25 for x in v)/len(v):.2f} <.1 {sum(x<.1 for x in v)/len(v):.2f} >.65 {sum(x>.65 for x in v)/len(v):.2f} med {v[len(v)//2]:.2f} least {m[0]:.2f} {m[1]} most {v[-1]:.2f}",flush=True)
def own(sets):
    js=[];
    for (n,st,link,path,dur) in sets:
        for c in (CC,"bbr","cubic"): js.append((link,path,{"duration":f"{dur}s","measure_from":f"{int(st*n)+5}s"},[dict(controller=c,start=f"{round(i*st*1000)}ms") for i in range(n)]))
    r=runs(js); J=[];W=[];Q=[]
    for i,(n,st,link,path,dur) in enumerate(sets):
        a,b,c=r[3*i:3*i+3]
        def jl(x):
            t=[v["thr"] for v in x["flows"]]; return sum(t)**2/len(t)/max(sum(y*y for y in t),1e-9), min(t)*len(t)/max(sum(t),1e-9)
        (ja,wa),(jb,wb),(jc,wc)=jl(a),jl(b),jl(c); J.append((ja,jb,jc)); W.append((wa,wb,wc)); Q.append((a["q95"],b["q95"]))
        name=os.path.basename(str(link.get("trace") or link.get("rate") or link.get("schedule")))[:22]
        print(f"  own {n:2} {name:22} {path['rtt']:5} {path.get('loss','')} {link.get('buffer','')}: jain {ja:.2f} (bbr {jb:.2f} cubic {jc:.2f}) least/fair {wa:.2f} ({wb:.2f} {wc:.2f}) q95 {a['q95']:.0f} ({b['q95']:.0f} {c['q95']:.0f}) used {a['used']:.2f}",flush=True)
    k=len(J); M["own"]=f"{sum(x[0] for x in J)/k:.3f} lf {sum(x[1] if 0 else x[0] for x in W)/k:.2f} n.9 {sum(x[0]>=.9 for x in J)}/{k} st {sum(x[0]<.2 for x in W)} q {gm([a/b for a,b in Q]):.2f} ["+" ".join(f"{i}:{x[0]:.2f}" for i,x in enumerate(J) if x[0]<.9)+"]"
    print(f"own mean jain {sum(x[0] for x in J)/k:.3f} (bbr {sum(x[1] for x in J)/k:.3f} cubic {sum(x[2] for x in J)/k:.3f}) mean least {sum(x[0] for x in W)/k:.2f} ({sum(x[1] for x in W)/k:.2f} {sum(x[2] for x in W)/k:.2f}) cells>=.9 {sum(x[0]>=.9 for x in J)}/{k} (bbr {sum(x[1]>=.9 for x in J)}) least<.2 {sum(x[0]<.2 for x in W)} ({sum(x[1]<.2 for x in W)}) q95/bbr {gm([a/b for a,b in Q]):.2f}",flush=True)
def jitter(name,cells,extra=None):
    js=[]
    for (rate,rtt,jit,loss) in cells:
        p={"rtt":rtt}
        if jit!="0ms": p["jitter"]=jit
        if loss!="0%": p["loss"]=loss
        p.update(extra or {})
        for c in (CC,"bbr","cubic"): js.append(({"rate":rate,"buffer":"4bdp"},p,{"duration":"25s","seeds":2},fl(c)))
    r=runs(js); o=[]; q=[]
    for i,c in enumerate(cells):
        a,b,d=r[3*i:3*i+3]; best=max(b["used"],d["used"]);
        if best>.5: o.append((round(a["used"]/best,2),round(a["used"],2),c))
        q.append(max(a["q95"],.1)/max(b["q95"],.1))
    o.sort(key=lambda x:x[0]); M[name[:6]]=f"{sum(x[0]>=.9 for x in o)/len(o):.2f} gm {gm([x[0] for x in o]):.3f} w {o[0][0]} q {gm(q):.2f}"
    print(f"{name} n {len(o)} >=.9 {sum(x[0]>=.9 for x in o)/len(o):.2f} gm {gm([x[0] for x in o]):.3f} q95/bbr {gm(q):.2f} worst "+" ".join(f"{x[0]}({x[1]}){'/'.join(x[2])}" for x in o[:4]),flush=True)
def steps(name,cells):
    js=[]
    for (link,path,after) in cells:
        for (a,b) in ((after,after+5),(after+5,after+20)):
            for c in (CC,"bbr","cubic"): js.append((link,path,{"duration":f"{b}s","measure_from":f"{a}s"},fl(c)))
    r=runs(js); out=[]
    for i,(link,path,after) in enumerate(cells):
        s=[]
        for h in (0,1):
            a,b,d=r[6*i+3*h:6*i+3*h+3]; s.append((a["used"],b["used"],d["used"],a["q95"],b["q95"]))
        nm=" ".join(str(v) for v in (link.get("rate") or link.get("schedule"),path["rtt"],path.get("rtt_steps",""),path.get("loss",""),path.get("jitter","")))
        out.append((min(s[0][0]/max(s[0][1],.02),s[1][0]/max(s[1][1],.02)),nm,s))
    bad=[x for x in out if x[0]<.9]; M["steps"]=f"{len(out)-len(bad)}/{len(out)} ["+" ".join(f"{min(x[0],9):.2f}" for x in bad)+"]"
    print(f"{name} n {len(out)} >=.9bbr both {1-len(bad)/len(out):.2f} q95/bbr late {gm([max(x[2][1][3],.1)/max(x[2][1][4],.1) for x in out]):.2f} early {gm([max(x[2][0][3],.1)/max(x[2][0][4],.1) for x in out]):.2f}")
    for x in sorted(bad)[:5]: print("   bad",x[1],"5s %.2f (%.2f %.2f) q %.0f/%.0f | 20s %.2f (%.2f %.2f) q %.0f/%.0f"%(x[2][0]+x[2][1]),flush=True)
def video(name,files,loads,rivals):
    import re
    js=[];meta=[]
    for f in files:
        mean=MEAN[os.path.basename(f)]
        for ld in loads:
            for rv in rivals:
                for c in (CC,"bbr","cubic"):
                    fs=[dict(controller=c,source=f"video:{mean*ld:.2f}mbit")]+([dict(controller=rv)] if rv else [])
                    js.append(({"trace":f,"buffer":"inf"},{"rtt":"40ms"},{"duration":"60s"},fs)); meta.append((ld,rv,c))
    r=runs(js); d={}
    for m,x in zip(meta,r): d.setdefault(m,[]).append(x["flows"][0]["frame"] or 1e5)
    M["video"]=" ".join(f"{gm(d[ld,rv,CC])/1000:.1f}" for ld in loads for rv in rivals)
    print(name+" "+" ".join(f"{int(100*ld)}%{'/'+rv if rv else ''} {gm(d[ld,rv,CC]):.0f} ({gm(d[ld,rv,'bbr']):.0f} {gm(d[ld,rv,'cubic']):.0f})" for ld in loads for rv in rivals),flush=True)
MEAN={}
def means():
    for f in first12:
        x=run(({"trace":f,"buffer":"inf"},{"rtt":"40ms"},{"duration":"60s"},fl("cubic"))); MEAN[os.path.basename(f)]=x["thr"]
S=lambda s:{"schedule":s}
def C(rate,buf="inf"): return {"rate":rate,"buffer":buf}
LTE=T+"mahimahi/Verizon-LTE-short.down"
def train():
    if on("f"):
        frontier("first12 40",first12,"40ms","inf"); frontier("radio 40",radio,"40ms","inf")
    if on("c"): coexist(("cubic","newreno","bbr","bbr3") if os.environ.get("FAST") else ("cubic","cubic:hystart=false","newreno","bbr","bbr3"),[(r,t,b,o) for r in ("10mbit","50mbit") for t in (("40ms",) if os.environ.get("FAST") else ("20ms","80ms")) for b in ("0.5bdp","1bdp","4bdp") for o in (1.3,-6)])
    if on("o"): own([(2,2,C("20mbit","4bdp"),{"rtt":"40ms"},60),(10,2,C("20mbit","4bdp"),{"rtt":"40ms"},80),(10,1,C("20mbit","2bdp"),{"rtt":"100ms"},80),(4,2,C("5mbit","4bdp"),{"rtt":"40ms"},60),(4,1,C("5mbit","4bdp"),{"rtt":"100ms"},60),(4,2,C("100mbit"),{"rtt":"40ms"},60),(20,.5,C("100mbit","4bdp"),{"rtt":"20ms"},60),
        (4,1,C("50mbit","2bdp"),{"rtt":"40ms","loss":"1%"},60),(2,5,{"schedule":"0ms:100mbit,500ms:5mbit,1000ms:repeat","buffer":"2bdp"},{"rtt":"100ms"},80),(5,1,{"schedule":"0ms:50mbit,200ms:10mbit,400ms:repeat","buffer":"inf"},{"rtt":"40ms"},80),(4,2,{"trace":LTE,"buffer":"inf"},{"rtt":"40ms"},90),(4,2,{"trace":T+"wifi/office-wifi_0.csv","buffer":"inf"},{"rtt":"100ms"},90)])
    if on("j"): jitter("jitter/loss",[(r,t,j,l) for r in ("5mbit","20mbit","100mbit") for t in ("20ms","40ms") for j in ("0ms","5ms","20ms") for l in ("0%","1%","2%")])
    if on("s"):
        steps("steps",[(l,p,15) for l,p in [(C("20mbit","8bdp"),{"rtt":"10ms","rtt_steps":"15s:100ms"}),(C("20mbit","4bdp"),{"rtt":"40ms","rtt_steps":"15s:60ms"}),(C("20mbit","4bdp"),{"rtt":"40ms","rtt_steps":"15s:160ms"}),(C("20mbit","4bdp"),{"rtt":"100ms","rtt_steps":"15s:30ms"}),(C("50mbit","4bdp"),{"rtt":"20ms","rtt_steps":"15s:40ms","loss":"1%"}),
            ({"schedule":"0s:5mbit,15s:50mbit","buffer":"4bdp"},{"rtt":"40ms"}),({"schedule":"0s:50mbit,15s:5mbit","buffer":"4bdp"},{"rtt":"40ms"}),({"schedule":"0s:5mbit,15s:50mbit","buffer":"8bdp"},{"rtt":"10ms","rtt_steps":"15s:100ms","loss":"1%"}),(C("100mbit","4bdp"),{"rtt":"10ms","rtt_steps":"15s:20ms","jitter":"2ms"}),(C("1mbit","inf"),{"rtt":"5ms","loss":"1%"})]]
            +[(C("20mbit","4bdp"),{"rtt":"40ms","rtt_steps":"2s:80ms"},2),(C("12mbit","4bdp"),{"rtt":"20ms","rtt_steps":"1s:60ms"},1),(C("50mbit","4bdp"),{"rtt":"20ms","rtt_steps":"1s:25ms,2s:35ms,3s:50ms,4s:70ms"},4)])
    if on("v"): means(); video("video",[first12[i] for i in (0,2,4)],(.3,.6),("","bbr"))
def held():
    if on("f"):
        frontier("first12 20",first12,"20ms","inf"); frontier("first12 100",first12,"100ms","inf"); frontier("first12 2bdp",first12,"40ms","2bdp"); frontier("radio 20",radio,"20ms","inf"); frontier("radio 100",radio,"100ms","inf")
    if on("c"): coexist(("cubic","cubic:hystart=false","newreno","bbr","bbr3"),[(r,t,b,o) for r in ("10mbit","50mbit","200mbit") for t in ("20ms","40ms","100ms") for b in ("0.5bdp","1bdp","2bdp","8bdp") for o in (0.5,4.1,-6)])
    if on("o"): own([(n,st,C(r,b),{"rtt":t,**({"loss":l} if l else {})},int(n*st)+50) for n,st in ((2,3),(4,1.5),(10,1.5),(20,.7)) for r in ("5mbit","20mbit","100mbit") for t,b in (("20ms","inf"),("40ms","4bdp"),("200ms","2bdp")) for l in ("","1%") if not (n==20 and r=="5mbit")]
        +[(2,1,{"schedule":"0ms:80mbit,300ms:2mbit,600ms:repeat","buffer":"1bdp"},{"rtt":"85ms"},80)]+[(4,3,{"trace":f,"buffer":"inf"},{"rtt":"40ms"},90) for f in first12[:8]])
    if on("j"): jitter("jitter/loss",[(r,t,j,l) for r in ("5mbit","20mbit","100mbit") for t in ("10ms","20ms","40ms","100ms") for j in ("0ms","5ms","10ms","20ms","40ms") for l in ("0%","0.5%","1%","2%")]); jitter("burst30",[(r,t,"0ms","0%") for r in ("20mbit","100mbit") for t in ("20ms","40ms","100ms")],{"burst_loss":"0.5%:30"})
    if on("s"): steps("steps",[({"schedule":f"0s:{a},15s:{b}","buffer":"4bdp"},{"rtt":t,"rtt_steps":f"15s:{u}",**({"loss":l} if l else {})},15) for a,b in (("20mbit","20mbit"),("50mbit","5mbit"),("5mbit","50mbit")) for t,u in (("20ms","40ms"),("20ms","80ms"),("10ms","100ms"),("40ms","20ms"),("80ms","20ms"),("100ms","10ms")) for l in ("","1%")]+[(C("20mbit","4bdp"),{"rtt":a,"rtt_steps":f"{s}s:{b}"},s) for a,b in (("30ms","50ms"),("20ms","50ms"),("50ms","150ms")) for s in (1,3)])
    if on("v"): means(); video("video",[first12[i] for i in (1,3,5,6,7,8)],(.3,.6,.8),("","bbr","cubic"))
def on(k): return WANT is None or k in WANT
print(f"== {CARD} {CC}",flush=True)
def train2():
    if on("f"):
        frontier("first12 40",first12,"40ms","inf"); frontier("radio 40",radio,"40ms","inf")
    if on("F"):
        frontier("first12 100",first12,"100ms","inf"); frontier("first12 2bdp",first12,"40ms","2bdp")
    if on("k"): coexist(("cubic:hystart=false","newreno","bbr","bbr3"),[(r,t,b,o) for r in ("10mbit","50mbit") for t in ("20ms","130ms") for b in ("0.5bdp","1bdp","7bdp") for o in (1.3,-6)])
    if on("c"): coexist(("cubic","cubic:hystart=false","newreno","bbr","bbr3"),[(r,t,b,o) for r in ("10mbit","50mbit") for t in ("20ms","60ms","130ms") for b in ("0.5bdp","1bdp","4bdp","7bdp") for o in (1.3,5.3,-6)])
    if on("d"): coexist(("cubic",),[(r,t,b,o) for r in ("20mbit","80mbit") for t in ("60ms","130ms") for b in ("5bdp","8bdp") for o in (2.2,5.3,-6)])
    if on("o"): own([(n,st,C(r,b),{"rtt":t,**({"loss":l} if l else {})},int(n*st)+50) for n,st in ((2,3),(4,1.5),(10,1.5),(20,.7)) for r in ("5mbit","20mbit","100mbit") for t,b in (("40ms","4bdp"),("100ms","2bdp")) for l in ("","1%") if not (n==20 and r=="5mbit")]
        +[(20,.5,C("100mbit","4bdp"),{"rtt":"20ms"},60),(2,5,{"schedule":"0ms:100mbit,500ms:5mbit,1000ms:repeat","buffer":"2bdp"},{"rtt":"100ms"},80),(5,1,{"schedule":"0ms:50mbit,200ms:10mbit,400ms:repeat","buffer":"inf"},{"rtt":"40ms"},80)]+[(4,2,{"trace":f,"buffer":"inf"},{"rtt":"40ms"},90) for f in first12[::2]])
    if on("j"): jitter("jitter/loss",[(r,t,j,l) for r in ("5mbit","20mbit","100mbit") for t in ("20ms","40ms") for j in ("0ms","5ms","20ms") for l in ("0%","1%","2%")])
    if on("s"):
        steps("steps",[(l,p,15) for l,p in [(C("20mbit","8bdp"),{"rtt":"10ms","rtt_steps":"15s:100ms"}),(C("20mbit","4bdp"),{"rtt":"40ms","rtt_steps":"15s:60ms"}),(C("20mbit","4bdp"),{"rtt":"40ms","rtt_steps":"15s:160ms"}),(C("20mbit","4bdp"),{"rtt":"100ms","rtt_steps":"15s:30ms"}),(C("50mbit","4bdp"),{"rtt":"20ms","rtt_steps":"15s:40ms","loss":"1%"}),
            ({"schedule":"0s:5mbit,15s:50mbit","buffer":"4bdp"},{"rtt":"40ms"}),({"schedule":"0s:50mbit,15s:5mbit","buffer":"4bdp"},{"rtt":"40ms"}),({"schedule":"0s:5mbit,15s:50mbit","buffer":"8bdp"},{"rtt":"10ms","rtt_steps":"15s:100ms","loss":"1%"}),(C("100mbit","4bdp"),{"rtt":"10ms","rtt_steps":"15s:20ms","jitter":"2ms"}),(C("1mbit","inf"),{"rtt":"5ms","loss":"1%"})]]
            +[(C("20mbit","4bdp"),{"rtt":"40ms","rtt_steps":"2s:80ms"},2),(C("12mbit","4bdp"),{"rtt":"20ms","rtt_steps":"1s:60ms"},1),(C("50mbit","4bdp"),{"rtt":"20ms","rtt_steps":"1s:25ms,2s:35ms,3s:50ms,4s:70ms"},4)])
    if on("v"): means(); video("video",[first12[i] for i in (0,2,4)],(.3,.6,.8),("","bbr"))
def held2():
    # Written down before it was run; looked at once.
    if on("f"):
        frontier("first12 60",first12,"60ms","inf"); frontier("first12 4bdp",first12,"40ms","4bdp"); frontier("radio 60",radio,"60ms","inf")
    if on("c"): coexist(("cubic","cubic:hystart=false","newreno","bbr","bbr3"),[(r,t,b,o) for r in ("16mbit","35mbit","120mbit") for t in ("30ms","75ms","160ms") for b in ("0.7bdp","1.5bdp","3bdp","6bdp") for o in (0.9,3.3,-6)])
    if on("o"): own([(n,st,C(r,b),{"rtt":t,**({"loss":l} if l else {})},int(n*st)+50) for n,st in ((3,2),(6,1),(15,1)) for r in ("8mbit","35mbit","120mbit") for t,b in (("30ms","6bdp"),("75ms","1.5bdp"),("160ms","3bdp")) for l in ("","0.5%") if not (n==15 and r=="8mbit")]
        +[(3,3,{"trace":f,"buffer":"inf"},{"rtt":"60ms"},90) for f in first12[1::2]])
    if on("j"): jitter("jitter/loss",[(r,t,j,l) for r in ("10mbit","50mbit") for t in ("15ms","30ms","70ms") for j in ("3ms","12ms","30ms") for l in ("0%","0.7%","1.5%")])
    if on("s"): steps("steps",[({"schedule":f"0s:{a},15s:{b}","buffer":"4bdp"},{"rtt":t,"rtt_steps":f"15s:{u}",**({"loss":l} if l else {})},15) for a,b in (("30mbit","30mbit"),("60mbit","8mbit"),("8mbit","60mbit")) for t,u in (("25ms","45ms"),("15ms","60ms"),("15ms","130ms"),("60ms","25ms"),("120ms","15ms")) for l in ("","1%")]+[(C("30mbit","4bdp"),{"rtt":a,"rtt_steps":f"{s}s:{b}"},s) for a,b in (("25ms","45ms"),("15ms","60ms")) for s in (1,2,4)])
    if on("v"): means(); video("video",[first12[i] for i in (1,3,5,7,9)],(.3,.6,.8),("","bbr","cubic"))
def held3():
    # For the law after held2 was seen; written down before it was run.
    if on("c"): coexist(("cubic","cubic:hystart=false","newreno","bbr","bbr3"),[(r,t,b,o) for r in ("25mbit","70mbit") for t in ("45ms","110ms","190ms") for b in ("0.6bdp","2.5bdp","7bdp") for o in (2.7,-6)])
    if on("o"): own([(n,1,C(r,b),{"rtt":t,**({"loss":l} if l else {})},n+50) for n in (5,12) for r in ("15mbit","60mbit") for t,b in (("50ms","3bdp"),("180ms","2bdp")) for l in ("","0.5%")])
{"train":train,"held":held,"train2":train2,"held2":held2,"held3":held3}[CARD]()

if QUIET: _p(f"{CC:40} "+" | ".join(f"{k} {v}" for k,v in M.items()),flush=True)
