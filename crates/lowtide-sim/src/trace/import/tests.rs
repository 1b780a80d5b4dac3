use lowtide_cc::units::Time;

use super::*;

const OPPORTUNITY: Bytes = Bytes::new(1500);

fn import(format: Format, bytes: &[u8]) -> Result<Imported, String> {
    choose(format, bytes, Choice::default())
}

fn choose(format: Format, bytes: &[u8], choice: Choice) -> Result<Imported, String> {
    read(format, bytes, choice, OPPORTUNITY).map_err(|e| e.to_string())
}

/// Bytes that a link offers in each of its first seconds.
fn seconds<const N: usize>(imported: Imported) -> [u64; N] {
    let Imported::Link(link) = imported else {
        panic!("it is no link");
    };
    let at = |second: usize| Time::from_nanos(second as u64 * 1_000_000_000);
    std::array::from_fn(|n| link.volume_between(at(n), at(n + 1)).get())
}

#[test]
fn logs_of_rates_become_series() {
    let pairs = import(
        Format::Pairs,
        b"# s Mbit/s\n1530.0 8\n1531.0\t16\n1532.5,0.8\n",
    );
    assert_eq!(seconds(pairs.unwrap()), [1_000_000, 2_000_000, 1_050_000]);
    let irish = "Timestamp,Longitude,DL_bitrate,UL_bitrate,State\n\
                 2019.12.31_23.59.59,-8.4,8000,80,D\n2020.01.01_00.00.00,-8.4,800,8,D\n\
                 2020.01.01_00.00.00,-8.4,1600,16,D\n2020.01.01_00.00.02,-8.4,0,0,I\n";
    let down = import(Format::GNetTrack, irish.as_bytes()).unwrap();
    assert_eq!(seconds(down), [1_000_000, 200_000, 200_000, 0]);
    let uplink = Choice {
        uplink: true,
        ..Choice::default()
    };
    let up = choose(Format::GNetTrack, irish.as_bytes(), uplink).unwrap();
    assert_eq!(seconds(up), [10_000, 2_000]);
    let lumos = "run_num,seq_num,nrStatus,Throughput,mobility_mode\n1,1,NONE,8,walking\n\
                 1,2,NONE,16,walking\n2,1,NONE,80,driving\n";
    let several = import(Format::Lumos5g, lumos.as_bytes()).unwrap_err();
    assert!(
        several.starts_with("line 4: there are several runs"),
        "{several}"
    );
    let run = |run| Choice {
        run: Some(run),
        ..Choice::default()
    };
    let second = choose(Format::Lumos5g, lumos.as_bytes(), run(2)).unwrap();
    assert_eq!(seconds(second), [10_000_000]);
    let first = choose(Format::Lumos5g, lumos.as_bytes(), run(1)).unwrap();
    assert_eq!(seconds(first), [1_000_000, 2_000_000]);
    let iperf = br#"{"start":{},"intervals":[
        {"streams":[],"sum":{"start":0,"end":1,"bits_per_second":99,"omitted":true}},
        {"streams":[],"sum":{"start":0,"end":1,"bits_per_second":8e6,"omitted":false}},
        {"streams":[],"sum":{"start":1,"end":2.0,"bits_per_second":16e6}}],"end":{}}"#;
    assert_eq!(
        seconds(import(Format::Iperf3, iperf).unwrap()),
        [1_000_000, 2_000_000]
    );
}

#[test]
fn a_link_log_gives_its_opportunities_or_else_its_departures() {
    let log = "# mahimahi mm-link (downlink) [a] > b\n# base timestamp: 100\n100 # 1500\n\
               100 + 1500\n150 - 1500 50\n1100 # 1500\n1100 # 1500\n1999 # 1500\n";
    let offered = import(Format::MahimahiLog, log.as_bytes()).unwrap();
    // The last millisecond of a round is the first of the next.
    assert_eq!(seconds(offered), [3_000, 3_000]);
    let departures = "5.5 - 1500 2.5\n500 - 1500 3\n800.2 - 1500 1\n";
    let departed = import(Format::MahimahiLog, departures.as_bytes()).unwrap();
    assert_eq!(seconds(departed), [4_500]);
}

#[test]
fn delays_of_leoreplayer_are_of_10_ms_each() {
    let Ok(Imported::Delay(delay)) = import(Format::LeoReplayerDelay, b"24\n18\n") else {
        panic!("it is no delay");
    };
    let ms = lowtide_cc::units::Duration::from_millis;
    assert_eq!((delay.least(), delay.mean()), (ms(18), ms(21)));
    // Of CellReplay's packet trains the first packets' delays.
    let trains = b"2000 20 1 1 2\n2030 40 3 1\n2040 20 1\n";
    let Ok(Imported::Delay(delay)) = import(Format::CellReplayDelay, trains) else {
        panic!("it is no delay");
    };
    assert_eq!((delay.least(), delay.mean()), (ms(20), ms(24)));
}

/// An IPv4 packet of so many bytes, of which the header is kept.
fn ipv4(length: u16, to: u8) -> Vec<u8> {
    let mut packet = vec![0; 20];
    packet[0] = 0x45;
    packet[2..4].copy_from_slice(&length.to_be_bytes());
    packet[16..20].copy_from_slice(&[10, 0, 0, to]);
    packet
}

#[test]
fn a_capture_gives_what_came_to_the_receiver() {
    // 1500 bytes to 10.0.0.2 each 2 ms, and an acknowledgment to 10.0.0.1 each.
    let times = (0..1_000_u32).flat_map(|n| [(n, 1_500, 2), (n, 40, 1)]);
    let mut classic = [0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0].to_vec();
    classic.extend([0; 12]);
    classic.extend(101_u32.to_le_bytes());
    let mut ng = [0x0A0D_0D0A_u32, 28, 0x1A2B_3C4D, 1, u32::MAX, u32::MAX, 28]
        .map(u32::to_le_bytes)
        .concat();
    // Ethernet, in nanoseconds.
    ng.extend(
        [1_u32, 32, 1, 0, 9 | 1 << 16, 9, 0, 32]
            .map(u32::to_le_bytes)
            .concat(),
    );
    for (n, length, to) in times {
        let packet = ipv4(length, to);
        let (second, us) = (n / 500, n % 500 * 2_000);
        classic.extend(
            [second, us, 20, u32::from(length)]
                .map(u32::to_le_bytes)
                .concat(),
        );
        classic.extend(&packet);
        let frame = [&[0; 12], [0x08, 0x00].as_slice(), &packet].concat();
        let ns = u64::from(n) * 2_000_000;
        let head = [
            6,
            68,
            0,
            (ns >> 32) as u32,
            ns as u32,
            34,
            u32::from(length) + 14,
        ];
        ng.extend(head.map(u32::to_le_bytes).concat());
        ng.extend(&frame);
        ng.extend([0, 0]);
        ng.extend(68_u32.to_le_bytes());
    }
    for capture in [classic, ng] {
        let busiest = import(Format::Pcap, &capture).unwrap();
        assert_eq!(seconds(busiest), [750_000]);
        let choice = Choice {
            receiver: Some([10, 0, 0, 1].into()),
            ..Choice::default()
        };
        let back = choose(Format::Pcap, &capture, choice).unwrap();
        let [bytes] = seconds(back);
        assert!((18_000..=21_000).contains(&bytes), "{bytes}");
        let cut = &capture[..capture.len() - 3];
        assert!(import(Format::Pcap, cut).is_ok());
    }
}

#[test]
fn what_has_another_format_is_refused_with_its_place() {
    let wrong = |format, text: &str| import(format, text.as_bytes()).unwrap_err();
    assert!(wrong(Format::Pairs, "0 1\n1\n").starts_with("line 2: a line is a time"));
    assert!(wrong(Format::Pairs, "0 1\n1 x\n").starts_with("line 2: 'x' is no rate in Mbit/s"));
    assert!(wrong(Format::Pairs, "5 1\n4 1\n").starts_with("line 2: the time 4 s"));
    let irish = "Timestamp,DL_bitrate\nyesterday,5\n";
    assert!(wrong(Format::GNetTrack, irish).starts_with("line 2: 'yesterday' is no time"));
    assert!(wrong(Format::GNetTrack, "a,b\n1,2\n").contains("no column is called 'Timestamp'"));
    assert!(wrong(Format::Iperf3, "{\n\"a\": }").starts_with("line 2: it is no JSON"));
    assert!(wrong(Format::Iperf3, "{}").contains("no 'intervals'"));
    assert!(wrong(Format::MahimahiLog, "5 ? 3\n").contains("'?' is none of # + -"));
    assert!(wrong(Format::LeoReplayerDelay, "5\n-1\n").starts_with("line 2: -1 ms"));
    assert!(wrong(Format::Pcap, "5\n").contains("neither pcap nor pcapng"));
    for format in [Format::Pairs, Format::MahimahiLog, Format::LeoReplayerDelay] {
        assert!(wrong(format, "").contains("no entries"));
    }
}
